#!/bin/bash
# Which device, GID and way to connect is taken, on two software devices of one host: 127.0.0.1 is an address of
# soft0, 127.0.0.2 one of soft1.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
[[ -n ${RDMABLK_TEST_RUNNER:-} ]] || skip "it is about the addresses of the software device"
export SOFTVERBS_DEVICES=2
start_remote

# refuses STATUS PATTERN OPTION...: the export cannot be listed so.
refuses() {
  local status=$1 pattern=$2
  shift 2
  expect_fail "$status" "$pattern" "$rdmablk" list "$target" "$@"
}

lists() { expect_match "list $*" 'disk +memory' "$("$rdmablk" list "$target" "$@")"; }

# index_of DEVICE TYPE GID
index_of() {
  "$rdmablk" devices --json | jq --raw-output --arg device "$1" --arg type "$2" --arg gid "$3" \
    '.devices[] | select(.name == $device) | .ports[0].gids[] | select(.gid == $gid and .type == $type) | .index'
}

address=127.0.0.1
start_target --export "$(export_spec disk 8M)"
lists
lists --device soft0
lists --device soft1
lists --device soft1/1 --gid-index "$(index_of soft1 'RoCE v2' ::ffff:127.0.0.2)" --retries 3 --ack-timeout 14
refuses 1 "no RDMA device 'soft2'; those there are: soft0, soft1" --device soft2
refuses 1 'GID 250 of soft1: it has no IPv4 address to connect from; there are: none' --device soft1 --gid-index 250
refuses 1 'port 2 of soft1: it has no IPv4 address' --device soft1/2
refuses 2 '--path-mtu goes with --cm tcp alone' --path-mtu 1024
refuses 2 '--retries takes a number from 0 to 7' --retries 8

# A mount keeps to it, and refuses what makes no sense before it mounts anything.
directory=$scratch/mounted
mkdir "$directory"
mount_export disk "$directory" -o device=soft1,retries=3
head --bytes 64k /dev/urandom >"$scratch/data"
dd if="$scratch/data" of="$directory/disk" conv=notrunc,fsync status=none
unmount_export "$directory"
mount_export disk "$directory" -o ro,device=soft0
cmp --bytes 64k "$scratch/data" "$directory/disk" || fail "the image is not what was written"
unmount_export "$directory"
expect_fail 2 'option pkey_index goes with cm=tcp alone' "$rdmablk" mount "$(uri disk)" "$directory" -o pkey_index=1
expect_fail 2 "unknown mount option 'gid_indx'.*gid_index" "$rdmablk" mount "$(uri disk)" "$directory" -o gid_indx=1
stop_target

# By TCP, where a URI without a port means TCP's.
start_target --export "$(export_spec disk 8M)" --cm tcp
lists --cm tcp
lists --cm tcp --device soft1 --path-mtu 1024 --service-level 3 --traffic-class 104
refuses 1 'soft2' --cm tcp --device soft2
mount_export disk "$directory" -o cm=tcp,device=soft1
head --bytes 64k /dev/urandom >"$scratch/data"
dd if="$scratch/data" of="$directory/disk" conv=notrunc,fsync status=none
unmount_export "$directory"
"$rdmablk" copy "$(uri disk)" "$scratch/copy" --quiet --cm tcp
cmp --bytes 64k "$scratch/data" "$scratch/copy" || fail "the copy is not what was written"
expect_match "the doctor" 'connection .*accepts' "$("$rdmablk" doctor "$target" --cm tcp || true)"
stop_target
expect_fail 1 '127.0.0.1:10813' "$rdmablk" list 127.0.0.1 --cm tcp
expect_fail 1 '127.0.0.1:10812' "$rdmablk" list 127.0.0.1
