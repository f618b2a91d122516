# What the end-to-end tests over RDMA share: a target and mounts of its exports. A test sources this file
# in place of lib.sh. It runs over any RDMA device: on the software device, and inside a guest on the
# kernel's soft-RoCE and soft-iWARP.
#
# Environment:
#   RDMABLK_TEST_ADDRESS  where the target listens; 127.0.0.1 when not given
#   RDMABLK_TEST_BACKING  what stands behind export_spec's exports: memory (the default); a file, direct or
#                         buffered; resident, a file that is loaded into memory
#   RDMABLK_TEST_RUNNER   a command that our programs, and nothing else, are run by: scripts/soft-device
#   RDMABLK_VM_PEER       in a guest with another host beside it (scripts/vm --hosts 2): the target and its
#                         files are there. Its process number is that of a stand-in here, which passes its
#                         output and its exit status on, and signals to it
# shellcheck shell=bash
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

address=${RDMABLK_TEST_ADDRESS:-127.0.0.1}
backing=${RDMABLK_TEST_BACKING:-memory}
disks=           # the directory of the files behind exports
target_pid=
target_log=
target=          # HOST:PORT of the running target
rdmablk=$RDMABLK_BIN/rdmablk
tools=$RDMABLK_BIN # of the tests: put_target_on_peer and wrap_programs change the other one
kill_signal=KILL # what makes the target die of SIGKILL

# at_target COMMAND...: runs a command on the target's host.
at_target() {
  if [[ -n ${RDMABLK_VM_PEER:-} ]]; then "$RDMABLK_VM_PEER" "$@"; else "$@"; fi
}

# put_target_on_peer: the target runs on the other host from here on; all else stays here.
put_target_on_peer() {
  address=$RDMABLK_VM_PEER_ADDRESS
  kill_signal=QUIT
  at_target mkdir --parents "$scratch"
  mkdir "$scratch/bin"
  ln -s "$RDMABLK_BIN"/* "$scratch/bin"
  rm "$scratch/bin/rdmablk-target"
  printf '#!/bin/sh\nexec "%s" env RDMABLK_CM=%s "%s" "$@"\n' "$RDMABLK_VM_PEER" "${RDMABLK_CM:-rdmacm}" \
    "$RDMABLK_BIN/rdmablk-target" >"$scratch/bin/rdmablk-target"
  chmod +x "$scratch/bin/rdmablk-target"
  RDMABLK_BIN=$scratch/bin
}

# wrap_programs: RDMABLK_BIN names, from here on, programs that are run by the runner.
wrap_programs() {
  local program wrapper
  mkdir "$scratch/bin"
  for program in rdmablk rdmablk-target rdmablk-fuse; do
    wrapper=$scratch/bin/$program
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$RDMABLK_TEST_RUNNER" "$RDMABLK_BIN/$program" >"$wrapper"
    chmod +x "$wrapper"
  done
  RDMABLK_BIN=$scratch/bin
  rdmablk=$scratch/bin/rdmablk
}

# start_remote: start, and the programs ready to run.
start_remote() {
  start
  [[ -z ${RDMABLK_TEST_RUNNER:-} ]] || wrap_programs
  [[ -z ${RDMABLK_VM_PEER:-} ]] || put_target_on_peer
  [[ $backing == memory ]] || make_disks
}

# make_disks: $disks, on a real file system: one with a disk below it, which takes direct I/O as such.
make_disks() {
  disks=$scratch/disks
  at_target mkdir "$disks"
  [[ $(at_target stat --file-system --format %T "$disks") == @(tmpfs|overlayfs|UNKNOWN*) ]] || return 0
  [[ -c /dev/loop-control ]] || skip "there is no real file system to work on, nor a loop device to make one"
  at_target truncate --size=1G "$scratch/disks.img"
  at_target mkfs.ext4 -q "$scratch/disks.img"
  at_target mount -o loop "$scratch/disks.img" "$disks"
}

# export_spec NAME SIZE: an export as RDMABLK_TEST_BACKING asks for.
export_spec() {
  case $backing in
    memory) echo "$1=memory:$2,chunk=4M" ;;
    direct) echo "$1=file:$(backing_file "$1"),size=$2,direct=on" ;;
    buffered) echo "$1=file:$(backing_file "$1"),size=$2,direct=off" ;;
    resident) echo "$1=file:$(backing_file "$1"),size=$2,resident,chunk=4M" ;;
    *) fail "RDMABLK_TEST_BACKING is '$backing'" ;;
  esac
}

# backing_file NAME: the file behind an export that is not memory.
backing_file() { echo "$disks/$1.img"; }

# start_target ARGUMENT...: returns when it listens, on a free port, with --insecure unless there is an
# --auth. Words in the array `run_with` stand in front of the command.
start_target() {
  local -a insecure=(--insecure)
  [[ " $* " != *" --auth "* ]] || insecure=()
  target_log=$scratch/target.log
  : >"$target_log"
  "${run_with[@]}" "$RDMABLK_BIN/rdmablk-target" "${insecure[@]}" --listen "$address:0" \
    --state-dir "$scratch/state" "$@" 2>"$target_log" &
  target_pid=$!
  test_pids+=("$target_pid")
  wait_until "the target listens" target_listens_or_ended
  is_running "$target_pid" || fail "the target ended: $(cat "$target_log")"
  target=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$target_log")
}

target_listens_or_ended() {
  grep --quiet 'listening on ' "$target_log" || ! is_running "$target_pid"
}

# stop_target: with SIGTERM; it must end with 0.
stop_target() {
  local status=0
  kill -TERM "$target_pid"
  wait "$target_pid" || status=$?
  expect_equal "exit status of the target ($(tail -n 5 "$target_log"))" 0 "$status"
}

# kill_target: as if its machine had lost power, but for the connections, which its kernel ends.
kill_target() {
  kill -"$kill_signal" "$target_pid"
  wait "$target_pid" 2>/dev/null || true
}

# freeze PID: stops a process that does I/O, as SIGSTOP does where there is an adapter: what that was
# told goes on. The software device has none, so there not in the middle of a copy.
freeze() {
  wait_until "process $1 stops, and no copy of it is under way" stops_between_copies "$1"
}

stops_between_copies() {
  kill -STOP "$1"
  wait_until "process $1 stops" is_stopped "$1"
  [[ -n ${RDMABLK_TEST_RUNNER:-} && $("$tools/softverbs-copies" "$target_pid") != 0 ]] || return 0
  kill -CONT "$1"
  return 1
}

# is_stopped PID: each of its threads.
is_stopped() { ! cat /proc/"$1"/task/*/stat | sed 's/.*) //' | grep '^[^T]' >/dev/null; }

uri() { echo "rdmablk://$target/$1"; }

# mount_export EXPORT PATH [ARGUMENT...]
mount_export() {
  local export=$1 path=$2
  shift 2
  "$rdmablk" mount "$(uri "$export")" "$path" --quiet "$@" || fail "rdmablk mount $path ended with status $?"
}

# unmount_export PATH: rdmablk unmount returns when the daemon is gone.
unmount_export() {
  local pid
  pid=$(daemon_of "$1")
  "$rdmablk" unmount "$1" || fail "cannot unmount $1"
  ! is_running "$pid" || fail "rdmablk unmount did not wait for the daemon of $1 (process $pid)"
}
