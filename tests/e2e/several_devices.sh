#!/bin/bash
# A target on two devices: its exports are the same over each, and are registered with one when somebody uses
# them there. The limit of locked memory has to do for one device at the start; a client over another is told
# when it does not do for that as well.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
if [[ -n ${RDMABLK_IN_VM:-} && -z ${RDMABLK_TEST_ADDRESS_1:-} ]]; then
  skip "it takes two devices: scripts/vm --links 2"
fi
export SOFTVERBS_DEVICES=2 # an address is one device's or the other's then
start_remote
here=$address
there=${RDMABLK_TEST_ADDRESS_1:-127.0.0.2}
address=0.0.0.0

# uri_over ADDRESS: that of the export by an address of the target.
uri_over() { echo "rdmablk://$1:${target##*:}/disk"; }

# expect_copy ADDRESS: the export has the data, over the device of that address.
expect_copy() {
  "$rdmablk" copy "$(uri_over "$1")" "$scratch/copy" --quiet || fail "copying over $1"
  expect_equal "what was copied over $1" "$(sha256 "$scratch/data")" "$(sha256 "$scratch/copy")"
  rm "$scratch/copy"
}

head --bytes=2M /dev/urandom >"$scratch/data"
start_target --export disk=memory:2M
"$rdmablk" copy "$scratch/data" "$(uri_over "$there")" --quiet || fail "copying over $there"
expect_copy "$here"
expect_copy "$there"
stop_target

# Two registrations of 2 MiB fit, and messages; four do not.
run_with=(prlimit --memlock=$((7 << 20)) setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock)
start_target --export disk=memory:2M
expect_match "the log" "warning: .*ulimit -l [0-9]+.*refused" "$(cat "$target_log")"
"$rdmablk" copy "$scratch/data" "$(uri_over "$here")" --quiet || fail "copying over $here"
expect_fail 1 "'disk' cannot be used over .*ulimit -l" "$rdmablk" copy "$(uri_over "$there")" "$scratch/copy" --quiet
expect_match "the log" "error: export 'disk' cannot be used over .*ulimit -l" "$(cat "$target_log")"
expect_copy "$here"
stop_target
