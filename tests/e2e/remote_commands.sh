#!/bin/bash
# The command rdmablk: devices, list, info and bench, for people and as JSON.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
start_target --export disk=memory:16M,chunk=4M --export rom=memory:512,readonly

device=${RDMABLK_TEST_DEVICE:-soft0}
expect_match "devices" "$device" "$("$rdmablk" devices)"
expect_equal "devices as JSON" "1 true" \
  "$("$rdmablk" devices --json | jq -r --arg name "$device" '"\(.version) \(any(.devices[]; .name == $name))"')"

expect_match "list" $'disk .*16 MiB' "$("$rdmablk" list "$target")"
expect_equal "list as JSON" "disk:16777216:false rom:512:true" \
  "$("$rdmablk" list "$target" --json | jq -r '[.exports[] | "\(.name):\(.size_bytes):\(.read_only)"] | join(" ")')"

expect_equal "size" 16777216 "$("$rdmablk" info --size "$(uri disk)")"
expect_match "info" "16 MiB" "$("$rdmablk" info "$(uri disk)")"
expect_equal "info as JSON" "1 disk memory 16777216 4" \
  "$("$rdmablk" info --json "$(uri disk)" | jq -r '"\(.version) \(.name) \(.type) \(.size_bytes) \(.chunks)"')"

# expect_can STATUS WHAT EXPORT
expect_can() {
  local status=0 output
  output=$("$rdmablk" info --can "$2" "$(uri "$3")" 2>&1) || status=$?
  expect_equal "info --can $2 of $3" "$1:" "$status:$output"
}
expect_can 0 read rom
expect_can 0 write disk
expect_can 3 write rom
expect_can 3 discard disk

expect_equal "map" $'OFFSET    LENGTH  TYPE\n     0  16777216  data' "$("$rdmablk" info --map "$(uri disk)")"
expect_equal "map as JSON" "4096 8192 data" \
  "$("$rdmablk" info --map --offset 4K --length 8K --json "$(uri disk)" |
    jq -r '.extents[] | "\(.offset_bytes) \(.length_bytes) \(.type)"')"
expect_fail 2 "lies outside .* 16777216 bytes" "$rdmablk" info --map --offset 16M "$(uri disk)"
expect_fail 2 "does not fit" "$rdmablk" info --map --offset 8M --length 9M "$(uri disk)"
expect_fail 1 "no export" "$rdmablk" info --can write "$(uri none)"

# An end of its own keeps a benchmark short: the time is not what is tested.
for rw in read write randread randwrite randrw; do
  result=$("$rdmablk" bench "$(uri disk)" --rw "$rw" --bs 4k --depth 8 --queues 2 --time 0.2 --json)
  expect_equal "$rw: sums of its figures" true \
    "$(jq '[.read, .write | select(. != null)] | length > 0 and all(.operations > 0 and .iops > 0 and
       .transferred_bytes == .operations * 4096 and .latency_p50_ns <= .latency_p99_ns and
       .latency_p99_ns <= .latency_max_ns)' <<<"$result")"
done
expect_match "bench" "IOPS" "$("$rdmablk" bench "$(uri rom)" --rw randread --bs 512 --time 0.2 2>/dev/null)"
stop_target
