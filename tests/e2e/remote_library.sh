#!/bin/bash
# A program in C that uses the library (docs/examples/rdmablk-example.c): it writes, flushes, reads and compares; what
# it wrote is there for others; and what cannot work says so.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/watch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/watch_lib.sh"
start_remote
start_target --metrics 0 --export "$(export_spec disk 16M)" --export rom=memory:1M,readonly

example() { env ${RDMABLK_TEST_RUNNER:+"$RDMABLK_TEST_RUNNER"} "$tools/rdmablk-example" "$@"; }

expect_equal "what it says" "16777216 bytes were written, flushed, read and compared" "$(example "$(uri disk)")"

# What it wrote, by its own rule: the first bytes of the second block of 64 KiB.
expect_equal "bytes at 65536" "01 20 3f 5e" \
  "$("$rdmablk" hexdump "$(uri disk)" --offset 65536 --length 16 | head -n 1 | awk '{ print $2, $3, $4, $5 }')"
[[ $backing == memory ]] || expect_equal "bytes at 65536 of the file" " 01 20 3f 5e" \
  "$(at_target od --address-radix=n --format=x1 --skip-bytes=65536 --read-bytes=4 "$(backing_file disk)")"

# The target is told what was done: 256 blocks.
watched=$(metrics_address "$target_log")
for operation in read write; do
  expect_value "$watched" \
    "rdmablk_client_reported_requests_total{export=\"disk\",client=\"\",operation=\"$operation\"}" 256
done

expect_error "cannot connect: .*nosuch" example "$(uri nosuch)"
expect_error "cannot connect: .*read" example "$(uri rom)"
expect_error "cannot connect: .*is not a URI" example "$target/disk"
stop_target
expect_error "cannot connect: .*is rdmablk-target running there" example "$(uri disk)"
