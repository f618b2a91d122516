#!/bin/bash
# A target that is there and does not run (SIGSTOP): the tools say so in time.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
[[ $backing != memory ]] || backing=buffered # of a file: its requests need the target
start_remote
start_target --export "$(export_spec disk 16M)"

# A benchmark that is interrupted gives its figures, and does not wait for what does not come back.
"$rdmablk" bench "$(uri disk)" --rw randwrite --time 3600 --json >"$scratch/figures" 2>"$scratch/complaint" &
bench=$!
test_pids+=("$bench")
has_written() { ! cmp --quiet --bytes=16M "$(backing_file disk)" /dev/zero; }
wait_until "the benchmark writes" has_written
kill -STOP "$target_pid"
is_stopped() { [[ $(sed 's/.*) //; s/ .*//' "/proc/$target_pid/task/"*/stat | sort -u) == T ]]; }
wait_until "the target is stopped" is_stopped
kill -TERM "$bench"
status=0
wait "$bench" || status=$?
expect_equal "exit status of the benchmark ($(cat "$scratch/complaint"))" 1 "$status"
expect_match "what it says" "requests? to $(uri disk) did not come back" "$(cat "$scratch/complaint")"
expect_equal "its figures" "true true" \
  "$(jq --raw-output '"\(.interrupted) \(.unfinished > 0 and .unfinished <= 32)"' "$scratch/figures")"

expect_fail 1 "cannot .*$target.*(in time|longer than)" "$rdmablk" list "$target" --timeout 0.5
expect_fail 1 "cannot .*$target.*(in time|longer than)" "$rdmablk" info "$(uri disk)" --timeout 0.5
kill -CONT "$target_pid"
expect_match "afterwards" "disk" "$("$rdmablk" list "$target")"
stop_target
