#!/bin/bash
# What a new user does, on a Debian 12 that has nothing but the packages: its root is made by debootstrap from the
# mirror that this machine uses, and booted twice by scripts/vm, with systemd. fresh_user.sh is the user.
# It takes root, a network, and some minutes.
#
# Environment:
#   RDMABLK_PACKAGES     the directory of the packages
#   RDMABLK_UML_KERNEL
#   RDMABLK_FRESH_ROOT   a root that debootstrap has made before: it is used, and keeps what apt fetches
set -euo pipefail

readonly suite=bookworm inside=/trial
readonly fetched=(fio qemu-utils) # what the user needs beside the packages
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work='' root=''

skip() {
  echo "SKIPPED: $*"
  exit 77
}

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

check_machine() {
  : "${RDMABLK_PACKAGES:?}"
  ((EUID == 0)) || skip "it takes root to make a root"
  [[ -n ${RDMABLK_UML_KERNEL:-} ]] || skip "RDMABLK_UML_KERNEL names no user-mode Linux kernel (docs/vm.md)"
  type -P debootstrap >/dev/null || skip "debootstrap is not installed; run: scripts/install-dependencies"
}

# Mounts are in a namespace of their own, and so gone with this script, however that ends.
enter_namespace() {
  [[ ${RDMABLK_FRESH_NAMESPACE:-} == "$$" ]] ||
    RDMABLK_FRESH_NAMESPACE=$$ exec unshare --mount --propagation private "$0" "$@"
}

# make_work_directory: locked as long as a process of this test lives. One whose lock is free was left by a test
# that was killed.
make_work_directory() {
  local base=${TMPDIR:-/var/tmp} old
  for old in "$base"/rdmablk-fresh.*; do
    [[ ! -d $old ]] || flock --nonblock "$old" rm -rf --one-file-system "$old" || true
  done
  work=$(mktemp --directory "$base/rdmablk-fresh.XXXXXX")
  exec {work_lock}<"$work"
  flock "$work_lock"
  trap clean_up EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
}

clean_up() {
  local status=$? mounted
  trap - EXIT
  while read -r mounted; do umount --lazy "$mounted" || true; done < \
    <(awk -v below="$root/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | tac)
  rm -rf --one-file-system "$work"
  ((status != 0)) || echo "passed"
  exit "$status"
}

mirror() {
  local found
  # shellcheck disable=SC2016 # apt's variables
  found=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' 2>/dev/null |
    awk -v suite="$suite" '$1 == suite && $2 == "main" { print $3; exit }')
  echo "${found:-http://deb.debian.org/debian}"
}

make_root() {
  root=${RDMABLK_FRESH_ROOT:-$work/root}
  root=${root%/}
  [[ -z ${RDMABLK_FRESH_ROOT:-} ]] || return 0
  setpriv --pdeathsig TERM debootstrap "$suite" "$root" "$(mirror)" >"$work/log" 2>&1 || fail "debootstrap: $(tail -n 20 "$work/log")"
}

# What the root has of this machine: devices, and below $inside the packages, the kernel and this test.
furnish_root() {
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --rbind /sys "$root/sys"
  mount -t tmpfs tmpfs "$root/run"
  mkdir --parents "$root$inside" "$work/share"
  mount -t tmpfs tmpfs "$root$inside"
  mkdir "$root$inside"/{scripts,tests,packages,share}
  mount --bind "$repository/scripts" "$root$inside/scripts"
  mount --bind "$repository/tests" "$root$inside/tests"
  mount --bind "$RDMABLK_PACKAGES" "$root$inside/packages"
  mount --bind "$work/share" "$root$inside/share"
  cp "$RDMABLK_UML_KERNEL" "$root$inside/linux"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
}

# in_root COMMAND...
in_root() {
  env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+"http_proxy=$http_proxy"} RDMABLK_UML_KERNEL="$inside/linux" \
    RDMABLK_PACKAGES="$inside/packages" RDMABLK_SHARE="$inside/share" setpriv --pdeathsig TERM chroot "$root" "$@"
}

# The guest has no network, but what was fetched.
fetch() {
  in_root apt-get install --yes --quiet --download-only "$@" >"$work/log" 2>&1 ||
    fail "apt-get cannot fetch $*: $(tail -n 20 "$work/log")"
}

# boot ARGUMENT: the user does what it says, and the machine is shut down.
boot() {
  in_root "$inside/scripts/vm" --init systemd --shutdown --share "$inside/share" --timeout 600 \
    "$inside/tests/packages/fresh_user.sh" "$1" || fail "the trial $1 ended with status $?"
}

main() {
  local -a packages
  check_machine
  enter_namespace "$@"
  make_work_directory
  make_root
  furnish_root
  in_root apt-get update --quiet >"$work/log" 2>&1 || fail "apt-get update: $(tail -n 20 "$work/log")"
  packages=("$RDMABLK_PACKAGES"/rdmablk{,-target}_*.deb)
  fetch "${packages[@]/#"$RDMABLK_PACKAGES"/"$inside/packages"}"
  fetch --no-install-recommends "${fetched[@]}"
  boot first
  boot again
}

main "$@"
