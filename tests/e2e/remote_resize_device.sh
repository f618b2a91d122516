#!/bin/bash
# Exports get another size whose size is decided elsewhere: a block device that grew, and memory in huge pages,
# of which a machine has only so many.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
[[ -c /dev/loop-control ]] || skip "there are no loop devices"

readonly MiB=$((1 << 20))
readonly pool=/sys/kernel/mm/hugepages/hugepages-2048kB
config=$scratch/target.toml
socket=$scratch/run/target.sock
image=$scratch/image
disk=$scratch/disk.img
touch "$image"

admin() { "$rdmablk" "$@" --socket "$socket"; }
has_size() { [[ $(stat --format %s "$image") == $(($1 * MiB)) ]]; }
await_size() { wait_until "the mount has $1 MiB" has_size "$1"; }
write_at() {
  head --bytes=1M /dev/urandom >"$scratch/piece"
  dd if="$scratch/piece" of="$image" bs=1M seek="$1" conv=notrunc,fsync oflag=direct status=none
}
expect_piece_at() { cmp --bytes="$MiB" "$scratch/piece" "$2" 0 "$(($1 * MiB))" || fail "$2 lacks what was written at $1 MiB"; }

# configure MORE: the device as an export "disk", with MORE in its section.
configure() { printf '[export.disk]\ntype = "file"\npath = "%s"\n%s\n' "$device" "${1:-}" >"$config"; }

# grow_device MIB
grow_device() {
  truncate --size="$1M" "$disk"
  losetup --set-capacity "$device"
}

truncate --size=4M "$disk"
device=$(losetup --direct-io=on --find --show "$disk" 2>/dev/null || losetup --find --show "$disk")

# A reload takes over the size that the device has got, and a mount follows.
configure
start_target --config "$config"
mount_export disk "$image"
grow_device 6
has_size 4 || fail "the export got larger before anybody said so"
expect_fail 1 "has 6291456 bytes, which is the only size that it can be given: resize the device first" \
  admin export resize disk 8M --runtime
admin reload || fail "cannot reload"
await_size 6
write_at 5
expect_piece_at 5 "$device"

# So does an administrator's word, and the next start needs no size.
grow_device 8
admin export resize disk 8M --runtime || fail "cannot resize"
await_size 8
write_at 7
expect_piece_at 7 "$device"
unmount_export "$image"
stop_target
grow_device 10
start_target --config "$config"
mount_export disk "$image"
has_size 10 || fail "the export has not the size of its device"
expect_piece_at 7 "$image"
write_at 9
unmount_export "$image"
expect_piece_at 9 "$device"
stop_target

# Its size may be configured, too.
configure 'size = "10M"'
start_target --config "$config"
mount_export disk "$image"
grow_device 12
admin reload || fail "cannot reload"
has_size 10 || fail "the export has not the size that is configured"
configure 'size = "12M"'
admin reload || fail "cannot reload"
await_size 12
write_at 11
unmount_export "$image"
expect_piece_at 11 "$device"

# What the target keeps of one that was added has no size where none was given.
admin export add "added=file:$scratch/added.img,size=1M" || fail "cannot add"
admin export resize added 2M || fail "cannot resize"
grep --quiet 'size = .2M' "$scratch/target.d/added.toml" || fail "the new size was not kept"
stop_target
losetup --detach "$device"
device=$(losetup --find --show "$disk")
printf 'slots = 8\n' >"$config"
start_target --config "$config"
admin export add "disk=file:$device" || fail "cannot add"
grow_device 14
admin export resize disk 14M || fail "cannot resize"
stop_target
grow_device 16
start_target --config "$config"
expect_equal "bytes of a device that grew while no target ran" $((16 * MiB)) "$("$rdmablk" info --size "$(uri disk)")"
stop_target

# Huge pages. Who raises their number keeps others from it meanwhile.
put_pool_back() {
  [[ -z ${pages_before:-} ]] || echo "$pages_before" >"$pool/nr_hugepages"
}
huge_pages() {
  [[ -w $pool/nr_hugepages ]] || return 1
  exec {pool_lock}<"$pool/nr_hugepages"
  flock "$pool_lock" || return 1
  pages_before=$(<"$pool/nr_hugepages")
  trap 'put_pool_back; finish' EXIT
  echo $((pages_before + 6)) >"$pool/nr_hugepages"
  (($(<"$pool/nr_hugepages") == pages_before + 6))
}
if huge_pages; then
  free=$(($(<"$pool/free_hugepages") - $(<"$pool/resv_hugepages")))
  start_target --export "disk=memory:3M,huge=2M"
  mount_export disk "$image"
  write_at 2
  admin export resize disk 7M --runtime || fail "cannot resize"
  await_size 7
  expect_piece_at 2 "$image"
  cmp --bytes=$((4 * MiB)) --ignore-initial=3M:0 "$image" /dev/zero || fail "what was added is not zero"
  expect_fail 1 "cannot be resized: .*takes [0-9]+ huge pages of 2 MiB.*raise the number" \
    admin export resize disk $((2 * free + 2))M --runtime
  has_size 7 || fail "the mount has another size"
  write_at 6
  expect_piece_at 6 "$image"
  admin export resize disk 1M --runtime --shrink || fail "cannot resize"
  await_size 1
  expect_equal "huge pages that are free" $((free - 1)) $(($(<"$pool/free_hugepages") - $(<"$pool/resv_hugepages")))
  write_at 0
  admin export resize disk 5M --runtime || fail "cannot resize"
  await_size 5
  expect_piece_at 0 "$image"
  cmp --bytes=$((4 * MiB)) --ignore-initial=1M:0 "$image" /dev/zero || fail "what was cut off came back"
  unmount_export "$image"
  stop_target
  expect_equal "huge pages that are free at the end" "$free" $(($(<"$pool/free_hugepages") - $(<"$pool/resv_hugepages")))
else
  echo "there are no huge pages to be had"
fi
