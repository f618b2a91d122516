#!/bin/bash
# On a host without an RDMA device every command says so, and where to find help.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start
[[ -z $(ls /sys/class/infiniband 2>/dev/null) ]] || skip "this host has an RDMA device"

touch "$scratch/image"
hint='RDMA.*rdmablk devices'
expect_fail 1 "$hint" "$RDMABLK_BIN/rdmablk-target" --insecure --export disk=memory:1M
expect_fail 1 "$hint" "$rdmablk" list 127.0.0.1
expect_fail 1 "$hint" "$rdmablk" info rdmablk://127.0.0.1/disk
expect_fail 1 "$hint" "$rdmablk" bench rdmablk://127.0.0.1/disk --rw read --time 1
expect_fail 1 "$hint" "$rdmablk" mount rdmablk://127.0.0.1/disk "$scratch/image"
status=0
text=$("$rdmablk" devices 2>&1) || status=$?
expect_equal "exit status of rdmablk devices" 1 "$status"
for way in "network card" "rdma link add" "scripts/soft-device"; do
  expect_match "what rdmablk devices explains" "$way" "$text"
done
expect_equal "mounts" "" "$(mounts_of '')"
# A configuration may be prepared before there is one.
text=$("$RDMABLK_BIN/rdmablk-target" --insecure --export disk=memory:1M --check-config) || fail "--check-config without a device"
expect_match "what --check-config says" "note: this host has no RDMA device.*rdmablk devices" "$text"
