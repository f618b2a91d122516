# What the tests share that count what a request costs: each sources this file behind lib.sh or remote_lib.sh of
# the end-to-end tests.
#
# Environment:
#   HOT_PATH_COUNTER   the library that counts
#
# The mount has one worker, which spins as long as it may: with more they call one another, and those that sleep wait
# once for each request or for many, as time will have it. What is left depends on nothing but the code.
# shellcheck shell=bash
: "${HOT_PATH_COUNTER:?set HOT_PATH_COUNTER to the library that counts}"

readonly requests=4000
counts=

# start_counting: the programs that are run by run_with count.
start_counting() {
  # shellcheck disable=SC2154 # of lib.sh
  counts=$scratch/counts
  # shellcheck disable=SC2034 # of lib.sh
  run_with=(env "HOT_PATH_COUNTS=$counts" "LD_PRELOAD=$HOT_PATH_COUNTER")
}

counts_now() { od --address-radix=n --format=u8 --width=512 --output-duplicates "$counts"; }

# run_requests READ-OR-WRITE DEPTH FILE
run_requests() {
  fio --name=requests --filename="$3" --size=16M --direct=1 --ioengine=libaio --bs=4k --rw="rand$1" \
    --norandommap --iodepth="$2" --number_ios="$requests" --output="$scratch/fio.log" ||
    fail "fio: $(tail "$scratch/fio.log")"
}

# check_costs FILE: of 4 KiB reads and writes, one at a time and 32.
check_costs() {
  local direction depth before after
  for direction in read write; do
    for depth in 1 32; do
      before=$(counts_now)
      run_requests "$direction" "$depth" "$1"
      after=$(counts_now)
      check_difference "$direction, depth $depth" "$before" "$after"
    done
  done
}

# Opening and closing the file are requests, too, and now and then something else happens: so one in a hundred is free.
check_difference() {
  awk -v what="$1" -v requests="$requests" -v before="$2" -v after="$3" '
    function per_request(origin, kind) { return cost[origin * kinds + kind + 1] / requests }
    function expect(name, value, expected) {
      if (value >= expected - 0.001 && value <= expected + 0.01) return
      printf "FAILED: %s: %s a request: expected %d, counted %.3f\n", what, name, expected, value
      failed = 1
    }
    BEGIN {
      split("allocations locks reads reads_in_vain replies waits other_calls", names, " ")
      split("ours libfuse device", origins, " ")
      kinds = 7
      split(before, old, " ")
      n = split(after, cost, " ")
      if (n != 3 * kinds) { print "FAILED: there are " n " counters"; exit 1 }
      for (i = 1; i <= n; ++i) cost[i] -= old[i]
      for (origin = 0; origin < 3; ++origin) {
        printf "%s: %-8s", what, origins[origin + 1] ":"
        for (kind = 0; kind < kinds; ++kind) printf " %s %.3f", names[kind + 1], per_request(origin, kind)
        print ""
      }
      expect("our allocations", per_request(0, 0), 0)
      expect("our locks", per_request(0, 1), 0)
      expect("reads from /dev/fuse", per_request(0, 2), 1)
      expect("our waits", per_request(0, 5), 0)
      expect("our other system calls", per_request(0, 6), 0)
      # With which a function of ours ends that libfuse has called, seems to be called by libfuse.
      expect("allocations of libfuse", per_request(1, 0), 1)
      expect("locks of libfuse", per_request(1, 1), 2)
      expect("replies", per_request(0, 4) + per_request(1, 4), 1)
      expect("system calls of libfuse", per_request(1, 2) + per_request(1, 3) + per_request(1, 5) + per_request(1, 6), 0)
      exit failed
    }' || fail "the hot path costs more than it should"
}
