# What the end-to-end tests share. A test sources this file, calls `start`, and works in $scratch;
# whatever it mounts and runs is gone when it ends, however it ends.
#
# Environment:
#   RDMABLK_BIN   the directory of the programs under test
# shellcheck shell=bash
set -euo pipefail
shopt -s extglob

: "${RDMABLK_BIN:?set RDMABLK_BIN to the directory of the built programs}"

readonly skipped=77
scratch=
test_pids=()

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# skip WHY: ctest counts the test as skipped.
skip() {
  echo "SKIPPED: $*"
  exit "$skipped"
}

# start: checks what every test needs and makes $scratch, an absolute path.
start() {
  ((EUID == 0)) || skip "it takes root to mount"
  [[ -c /dev/fuse ]] || skip "there is no /dev/fuse"
  scratch=$(realpath "$(mktemp --directory --tmpdir rdmablk-e2e-XXXXXX)")
  export STATE_DIRECTORY=$scratch/state # of targets that are given none
  export RUNTIME_DIRECTORY=$scratch/run # the same
  mkdir "$RUNTIME_DIRECTORY"
  trap finish EXIT
  trap 'exit 143' TERM
  trap 'exit 130' INT
}

# finish: undoes everything. Loop devices first, then mounts, then processes.
finish() {
  local status=$? device path pid
  trap - EXIT
  set +e
  while read -r path; do umount --lazy "$path"; done < <(mounts_of '^/dev/loop')
  for device in $(loops); do losetup --detach "$device"; done
  while read -r path; do umount --lazy "$path"; done < <(mounts_of '')
  for pid in "${test_pids[@]}" $(daemons | cut --delimiter ' ' --fields 1); do
    kill -KILL "$pid" 2>/dev/null
    wait_for_exit "$pid" 10
  done
  rm -rf --one-file-system "$scratch"
  ((status == 0)) && echo "passed"
  exit "$status"
}

# expect_equal WHAT EXPECTED ACTUAL
expect_equal() { [[ $2 == "$3" ]] || fail "$1: expected '$2', got '$3'"; }

# expect_match WHAT PATTERN TEXT: PATTERN is an extended regular expression.
expect_match() { [[ $3 =~ $2 ]] || fail "$1: expected a match of '$2', got '$3'"; }

# expect_fail STATUS PATTERN COMMAND...: the command must exit with STATUS and print one line, which
# matches the extended regular expression PATTERN.
expect_fail() {
  local expected=$1 pattern=$2 output status=0
  shift 2
  output=$("$@" 2>&1) || status=$?
  expect_equal "exit status of '$*' ($output)" "$expected" "$status"
  [[ $output != *$'\n'* ]] || fail "'$*' printed more than one line: $output"
  expect_match "what '$*' printed" "$pattern" "$output"
}

# expect_error PATTERN COMMAND...: the command must fail, and its output match PATTERN.
expect_error() {
  local pattern=$1 output
  shift
  if output=$(LC_ALL=C "$@" 2>&1); then fail "'$*' did not fail"; fi
  expect_match "what '$*' printed" "$pattern" "$output"
}

# mount_image ARGUMENT...: rdmablk-fuse in the background; the last argument is the mount point. The
# mount works when it returns. Words in the array `run_with` stand in front of the command.
run_with=()
mount_image() {
  "${run_with[@]}" "$RDMABLK_BIN/rdmablk-fuse" --quiet "$@" ||
    fail "rdmablk-fuse $* ended with status $?"
}

# mount_image_logging FILE ARGUMENT...: the same, with what the daemon says in FILE.
mount_image_logging() {
  local file=$1
  shift
  (mount_image "$@") 2>"$file" || fail "cannot mount: $(cat "$file")"
}

# unmount_image PATH: returns when the daemon is gone.
unmount_image() {
  local pid
  pid=$(daemon_of "$1")
  # `rdmablk mounts` of a test beside this one may have it open for a moment.
  wait_until "$1 can be unmounted" fusermount3 -u "$1"
  wait_for_exit "$pid" 30 || fail "the daemon of $1 (process $pid) did not end"
}

# Whether something is mounted on PATH. Asks the kernel's table, not the mount.
is_mounted() { awk -v path="$1" '$5 == path { found = 1 } END { exit !found }' /proc/self/mountinfo; }

# mounts_of PATTERN: what is mounted below $scratch from a source that matches, the last one first.
mounts_of() {
  awk -v below="$scratch/" -v pattern="$1" \
    'index($5, below) == 1 { for (i = 7; $i != "-"; ++i); if ($(i + 2) ~ pattern) print $5 }' \
    /proc/self/mountinfo | tac
}

# Loop devices on files below $scratch.
loops() { losetup --list --noheadings --output NAME,BACK-FILE | awk -v below="$scratch/" 'index($2, below) == 1 { print $1 }'; }

# wait_until WHAT COMMAND...: for conditions that nothing announces. Tries COMMAND until it
# succeeds, for ten seconds at most.
wait_until() {
  local what=$1 attempts=500
  shift
  until "$@"; do
    ((attempts-- > 0)) || fail "waited in vain: $what"
    sleep 0.02
  done
}

# Whether there is a process, and it is no zombie.
is_running() {
  local line
  { read -r line <"/proc/$1/stat"; } 2>/dev/null && [[ ${line##*) } != Z* ]]
}

# The processes of rdmablk-fuse that work below $scratch, and the mount point of each: "PID PATH".
daemons() {
  local file words word pid
  for file in /proc/[0-9]*/cmdline; do
    { mapfile -d '' -t words <"$file"; } 2>/dev/null || continue
    [[ ${words[0]:-} == ?(*/)rdmablk-fuse ]] || continue
    pid=${file//[!0-9]/}
    for word in "${words[@]:1}"; do
      if [[ $word == "$scratch"/* ]] && is_running "$pid"; then
        echo "$pid ${word%%+(/)}"
        break
      fi
    done
  done
}

# daemon_of PATH: the process that serves a mount point.
daemon_of() {
  local pid path
  while read -r pid path; do
    if [[ $path == "${1%%+(/)}" ]]; then
      echo "$pid"
      return
    fi
  done < <(daemons)
  fail "no daemon serves $1"
}

# wait_for_exit PID SECONDS: of any process. Fails when it takes longer.
wait_for_exit() {
  local attempts=$(($2 * 50))
  while is_running "$1"; do
    ((attempts-- > 0)) || return 1
    sleep 0.02
  done
}

# run_in_background COMMAND...: its process number is in $!, and it is killed at the end.
run_in_background() {
  "$@" &
  test_pids+=($!)
}

# sha256 PATH [SKIP-BYTES [COUNT-BYTES]]
sha256() {
  local count=()
  [[ -z ${3:-} ]] || count=(count="$3")
  dd if="$1" bs=1M iflag=skip_bytes,count_bytes,fullblock skip="${2:-0}" "${count[@]}" status=none |
    sha256sum | cut -d ' ' -f 1
}

# verify_with_fio FILE SIZE ARGUMENT...: fio writes and verifies; its output is shown when it fails.
verify_with_fio() {
  local file=$1 size=$2 log
  shift 2
  log=$scratch/fio.log
  (cd "$scratch" && fio --name=verify --filename="$file" --size="$size" --direct=1 \
    --verify=crc32c --verify_fatal=1 --group_reporting "$@") >"$log" 2>&1 ||
    fail "fio $*: $(tail -n 40 "$log")"
}
