# What tests of restarts share: a target under rdmablk-fd-keeper, which stands in for a service manager. A
# test sources this file in place of remote_lib.sh.
# shellcheck shell=bash
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

keeper=$RDMABLK_BIN/rdmablk-fd-keeper # remote_lib.sh wraps the programs under test, not this
keeper_pid=
keeper_log=
keeper_options=()

# choose_port: $port, of this test alone, and not of those that are given to whoever asks for any (from 32768 on):
# nobody takes it while the target is away.
choose_port() { port=$((10900 + 2 * $$ % 20000)); }

# start_keeper ARGUMENT...: returns when the target listens, at $port if that is set. Its log is in
# $target_log, that of all its runs; what the keeper says, in $keeper_log. $service runs in place of the target
# if that is set.
start_keeper() {
  target_log=$scratch/target.log
  keeper_log=$scratch/keeper.log
  : >"$target_log"
  : >"$keeper_log"
  "$keeper" "${keeper_options[@]}" "${service:-$RDMABLK_BIN/rdmablk-target}" --insecure --listen "$address:${port:-0}" \
    --state-dir "$scratch/state" "$@" >"$keeper_log" 2>"$target_log" &
  keeper_pid=$!
  test_pids+=("$keeper_pid")
  await_ready 1
}

# keeper_says WORD: how often the keeper has said it.
keeper_says() { grep --count "^$1 " "$keeper_log" || true; }

# await_ready N: waits until the target has become ready for the Nth time.
await_ready() {
  wait_until "the target is ready for the ${1}th time" keeper_ready_or_ended "$1"
  (($(keeper_says ready) >= $1)) || fail "the target ended: $(tail -n 20 "$target_log")"
  target_pid=$(sed -n 's/^ready \([0-9]*\) .*/\1/p' "$keeper_log" | tail -n 1)
  target=$(sed -n 's/.*listening on \([^ ]*\).*/\1/p' "$target_log" | tail -n 1)
  test_pids+=("$target_pid")
}

keeper_ready_or_ended() { (($(keeper_says ready) >= $1)) || ! is_running "$keeper_pid"; }

# restart_target SIGNAL: TERM or KILL for the target, which the keeper then starts again; returns when it
# listens.
restart_target() {
  local runs
  runs=$(keeper_says ready)
  case $1 in
    TERM) kill -USR1 "$keeper_pid" ;;
    KILL) kill -USR2 "$keeper_pid" ;;
  esac
  await_ready $((runs + 1))
}

# stop_keeper: the target stops in order, and its memory is gone.
stop_keeper() {
  local status=0
  kill -TERM "$keeper_pid"
  wait "$keeper_pid" || status=$?
  expect_equal "exit status of the keeper ($(tail -n 5 "$target_log"))" 0 "$status"
}

# identity EXPORT: its UUID and generation.
identity() { "$rdmablk" info --json "$(uri "$1")" | jq --raw-output '"\(.uuid) \(.generation)"'; }

# expect_kept EXPORT IDENTITY / expect_new EXPORT IDENTITY: whether its generation is that of before.
expect_kept() { expect_equal "the identity of $1" "$2" "$(identity "$1")"; }
expect_new() {
  local now
  now=$(identity "$1")
  [[ ${now#* } != "${2#* }" ]] || fail "the generation of $1 is that of before"
}

# fill EXPORT: random bytes, which are in $scratch/EXPORT.data, too.
fill() {
  local size
  size=$("$rdmablk" info --size "$(uri "$1")")
  head --bytes="$size" /dev/urandom >"$scratch/$1.data"
  touch "$scratch/$1.mount"
  mount_export "$1" "$scratch/$1.mount"
  dd if="$scratch/$1.data" of="$scratch/$1.mount" bs=1M conv=notrunc oflag=direct status=none
  unmount_export "$scratch/$1.mount"
}

# expect_content EXPORT: is what fill wrote.
expect_content() {
  touch "$scratch/$1.mount"
  mount_export "$1" "$scratch/$1.mount" -o ro
  cmp "$scratch/$1.data" "$scratch/$1.mount" || fail "the content of $1 is not what was written"
  unmount_export "$scratch/$1.mount"
}
