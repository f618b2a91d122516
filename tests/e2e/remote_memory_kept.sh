#!/bin/bash
# Memory that outlives the target's process: in the store of a service manager, or by hand-over to a
# successor.
# shellcheck source=tests/e2e/keeper_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/keeper_lib.sh"
start_remote

exports=(--export "disk=memory:4M,chunk=1M" --export "loaded=file:$scratch/loaded.img,size=2M,resident"
  --export "file=file:$scratch/file.img,size=1M")

# expect_all_kept: exports are what they were.
expect_all_kept() {
  expect_kept disk "$disk"
  expect_kept loaded "$loaded"
  expect_kept file "$file"
  expect_content disk
  expect_content loaded
}

# In the store: whatever ends the process.
start_keeper "${exports[@]}"
expect_match "what is kept" "^ready [0-9]+ stored 4$" "$(grep ready "$keeper_log")"
disk=$(identity disk) loaded=$(identity loaded) file=$(identity file)
fill disk
fill loaded
for signal in KILL TERM KILL; do
  restart_target "$signal"
  expect_all_kept
done
expect_equal "what is kept at last" 4 "$(sed -n 's/^ready .* stored //p' "$keeper_log" | tail -n 1)"

# What is in a resident export's memory alone is found, and written to its file.
touch "$scratch/image"
mount_export loaded "$scratch/image"
pid=$(daemon_of "$scratch/image")
head --bytes=2M /dev/urandom >"$scratch/loaded.data"
dd if="$scratch/loaded.data" of="$scratch/image" bs=1M conv=notrunc oflag=direct status=none
kill -STOP "$target_pid" # so that it does not see the mount end
kill -KILL "$pid"
wait_for_exit "$pid" 30 || fail "SIGKILL did not end the daemon"
umount --lazy "$scratch/image"
restart_target KILL
expect_all_kept
wait_until "the file has what was in memory" cmp --quiet "$scratch/loaded.data" "$scratch/loaded.img"
stop_keeper
cmp "$scratch/loaded.data" "$scratch/loaded.img" || fail "a stop in order left the file behind its memory"

# Memory is not dropped because the command line has changed, unless it says so.
start_service() {
  printf '#!/bin/bash\nmapfile -t arguments <"%s"\nexec "%s" "$@" "${arguments[@]}"\n' "$scratch/arguments" \
    "$RDMABLK_BIN/rdmablk-target" >"$scratch/service"
  chmod +x "$scratch/service"
  printf '%s\n' "$@" >"$scratch/arguments"
  service=$scratch/service start_keeper
}
start_service --export disk=memory:4M --export other=memory:1M
disk=$(identity disk)
fill disk
printf '%s\n' --export disk=memory:4M --discard other >"$scratch/arguments"
restart_target TERM
expect_kept disk "$disk"
expect_equal "what is kept" 2 "$(sed -n 's/^ready .* stored //p' "$keeper_log" | tail -n 1)"
restart_target TERM
expect_kept disk "$disk"
grep --quiet -- "--discard other: no memory was kept .* nothing is let go of" "$target_log" ||
  fail "nothing is said of a --discard without effect"
printf '%s\n' --export disk=memory:8M >"$scratch/arguments"
kill -USR2 "$keeper_pid"
wait "$keeper_pid" && fail "a target dropped memory of another size"
expect_match "what it says" "'disk' was kept.*4 MiB.*8 MiB.*--discard disk" "$(tail -n 1 "$target_log")"

# More than the store takes is refused, and a service without a store serves all the same.
keeper_options=(--max 3)
status=0
timeout 30 "$keeper" --max 3 "$RDMABLK_BIN/rdmablk-target" --insecure --listen "$address:0" --state-dir "$scratch/state" \
  "${exports[@]}" >"$keeper_log" 2>"$target_log" || status=$?
expect_equal "exit status when the store is too small" 1 "$status"
expect_match "what it says" "keeps 3 of 4.*FileDescriptorStoreMax=" "$(tail -n 1 "$target_log")"
keeper_options=(--max 0)
start_keeper "${exports[@]}"
grep --quiet "keeps no memory.*FileDescriptorStoreMax= .*4" "$target_log" || fail "nothing is said of a manager without a store"
disk=$(identity disk)
restart_target KILL
expect_new disk "$disk"
stop_keeper

# A successor.
start_target "${exports[@]}"
first=$target_pid
disk=$(identity disk) loaded=$(identity loaded) file=$(identity file)
fill disk
fill loaded

# start_successor ARGUMENT...: of the target $first, which ends.
start_successor() {
  local status=0
  mv "$target_log" "$scratch/first.log" # still written to
  start_target "$@" --succeed "$first"
  wait "$first" || status=$?
  expect_equal "exit status of the predecessor" 0 "$status"
}

# refused PATTERN ARGUMENT...: a successor that cannot be; the target goes on.
refused() {
  local pattern=$1
  shift
  expect_fail 1 "$pattern" "$RDMABLK_BIN/rdmablk-target" --log-level error --insecure --listen "$address:0" \
    --state-dir "$scratch/state" --succeed "$first" "$@"
  expect_kept disk "$disk"
}
refused "goes on serving.*'disk' would be lost: it has 4 MiB.*8 MiB.*--discard disk" --export disk=memory:8M
refused "goes on serving.*'loaded' would be lost: there is no such export" --export disk=memory:4M
refused "another file" --export disk=memory:4M --export "loaded=file:$scratch/file.img,resident"

# One that is stopped is not waited for without end, and stays as it is.
kill -STOP "$first"
expect_fail 1 "cannot succeed process $first: it has not answered within 10 s; is it stopped" \
  "$RDMABLK_BIN/rdmablk-target" --log-level error --insecure --listen "$address:0" --state-dir "$scratch/state" \
  --succeed "$first" "${exports[@]}"
kill -CONT "$first"
expect_all_kept

start_successor "${exports[@]}"
expect_all_kept

# One that dies before it serves: the memory waits for another.
first=$target_pid
expect_fail 1 "192.0.2.1" "$RDMABLK_BIN/rdmablk-target" --log-level error --insecure --listen 192.0.2.1 \
  "${exports[@]}" --state-dir "$scratch/state" --succeed "$first"
is_running "$first" || fail "the predecessor ended with a successor that never served"
expect_fail 1 "'disk' would be lost" "$RDMABLK_BIN/rdmablk-target" --log-level error --insecure --listen "$address:0" \
  --state-dir "$scratch/state" --succeed "$first" --export disk=memory:8M
start_successor "${exports[@]}"
expect_all_kept

# What is let go of on purpose.
first=$target_pid
start_successor --export disk=memory:8M --discard disk --discard loaded
expect_new disk "$disk"
stop_target
