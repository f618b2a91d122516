# How scripts/vm starts a kernel so that it never outlives the script.
# shellcheck shell=bash
# shellcheck disable=SC2034 # launcher: for the caller

# Who starts the kernel, so that all its processes end with this script however that ends: a bash
# that is told of this script's death and kills the kernel and its process group (the kernel makes
# one). Where we may have one, a PID namespace makes sure of it. As its first process the kernel
# could not even abort, so another bash takes that place. Without root there is none: a user
# namespace would take the meaning of set-user-ID programs from the guest.
choose_launcher() {
  local -a namespace=(unshare --pid --fork --kill-child=KILL)
  launcher=(setpriv --pdeathsig TERM bash -c '
    trap "kill -KILL -- \$! -\$! 2>/dev/null" EXIT
    trap exit TERM
    "$@" &
    wait "$!"' bash)
  ! "${namespace[@]}" true 2>/dev/null || launcher+=("${namespace[@]}" bash -c '"$@" & wait "$!"' bash)
}
