#!/bin/bash
# Exports as block devices: rdmablk map and unmap, their names, what uses them, what is left of those that die.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
[[ -c /dev/loop-control ]] || skip "there are no loop devices"

readonly runs=/run/rdmablk-maps
maptab=$scratch/maptab
mkdir "$scratch/fs"

# What a test that fails has mapped goes, too.
unmap_all() {
  local status=$? each
  set +e
  umount --lazy "$scratch/fs" 2>/dev/null
  for each in disk other fixed; do "$rdmablk" unmap --force --if-mapped "$(uri "$each")"; done
  (exit "$status")
  finish
}

start_target --export "$(export_spec disk 64M)" --export "other=memory:1M" --export "fixed=memory:1M,readonly"
trap unmap_all EXIT
place=$runs/${target/:/@}/disk # where the port is not the usual one
names=/dev/rdmablk/${target/:/@}

# maps [FILTER]: what is mapped of this test's target.
maps() { "$rdmablk" map --list --json | jq --raw-output --arg target "$target" "[.maps[] | select(.uri | contains(\$target))] | ${1:-length}"; }
backing() { losetup --noheadings --output BACK-FILE "$1" | xargs; }
# daemon_at PATH: the process that serves it.
daemon_at() { pgrep --full --exact --newest "(.*/)?rdmablk-fuse .* $1"; }
expect_nothing() {
  expect_equal "maps" 0 "$(maps)"
  expect_equal "loop devices" "" "$(losetup --list --noheadings --output NAME,BACK-FILE | grep "$place" || true)"
  [[ ! -e $place && ! -e $names ]] || fail "$place or $names is left"
  ! grep --quiet "$place" /proc/self/mountinfo || fail "a mount is left on $place"
}

# A device, with its names.
device=$("$rdmablk" map "$(uri disk)" --name "e2e-$$")
uuid=$("$rdmablk" info --json "$(uri disk)" | jq --raw-output .uuid)
[[ -b $device ]] || fail "'$device' is no block device"
expect_equal "size" $((64 << 20)) "$(blockdev --getsize64 "$device")"
expect_equal "direct I/O" 1 "$(losetup --noheadings --output DIO "$device" | xargs)"
expect_equal "block size" "$("$rdmablk" info --json "$(uri disk)" | jq '[.block_size_bytes, 4096] | min')" "$(blockdev --getss "$device")"
expect_equal "file behind it" "$place/image" "$(backing "$device")"
for name in "$names/disk" "/dev/rdmablk/by-uuid/$uuid" "/dev/rdmablk/by-name/e2e-$$"; do
  expect_equal "$name" "$device" "$(realpath "$name")"
done
expect_equal "list" "$device $(uri disk) ready false" "$(maps '.[] | "\(.device) \(.uri) \(.state) \(.read_only)"')"
expect_match "table" "$device +64 MiB +read-write +ready" "$("$rdmablk" map --list)"
expect_fail 1 "is mapped already, as $device" "$rdmablk" map "$(uri disk)"
expect_fail 1 "that is the name of $(uri disk)" "$rdmablk" map "$(uri other)" --name "e2e-$$"

# A file system on it, and whoever uses it.
mkfs.ext4 -q "$device"
mount "$device" "$scratch/fs"
head --bytes=3M /dev/urandom >"$scratch/fs/file"
sum=$(sha256 "$scratch/fs/file")
expect_fail 1 "$device: it is mounted on $scratch/fs;" "$rdmablk" unmap "$device"
umount "$scratch/fs"
run_in_background sleep 60 7<"$device"
expect_fail 1 "$device: process $! \(sleep\) has it open;" "$rdmablk" unmap "$names/disk"
kill $!
expect_equal "state of one that was refused" ready "$(maps '.[0].state')"
"$rdmablk" map --refresh "$device"
"$rdmablk" unmap "$names/disk"
expect_nothing
expect_fail 1 "is not mapped here" "$rdmablk" unmap "$device"
expect_fail 1 "is not mapped here" "$rdmablk" unmap "$(uri disk)"

# By maptab: each line is a device, but for those that are not wanted now.
cat >"$maptab" <<END
# NAME  URI                OPTIONS
e2e-a   $(uri disk)        give_up=30,nofail
 e2e-b	$(uri fixed)
e2e-c   $(uri other)       noauto
END
"$rdmablk" map --maptab "$maptab" --all >"$scratch/devices"
expect_equal "devices of maptab" 2 "$(wc --lines <"$scratch/devices")"
expect_equal "again" "" "$("$rdmablk" map --maptab "$maptab" --all)"
expect_equal "a device of maptab" "$(head --lines 1 "$scratch/devices")" "$(realpath /dev/rdmablk/by-name/e2e-a)"
expect_equal "a read-only export" 1 "$(blockdev --getro /dev/rdmablk/by-name/e2e-b)"
"$rdmablk" map --maptab "$maptab" e2e-c >/dev/null
mount /dev/rdmablk/by-name/e2e-a "$scratch/fs"
expect_equal "data after mapping anew" "$sum" "$(sha256 "$scratch/fs/file")"
umount "$scratch/fs"
for name in e2e-a e2e-b e2e-c; do "$rdmablk" unmap "$name"; done
expect_nothing
printf 'one rdmablk://h/x\none rdmablk://h/y\ntwo\n' >"$maptab"
expect_error "$maptab:2: 'one' is the name of an earlier line.*$maptab:3: .* the URI is missing" \
  "$rdmablk" map --maptab "$maptab" --all

# Mistakes leave nothing.
expect_fail 2 "unknown mount option 'giveup'; do you mean 'give_up'" "$rdmablk" map "$(uri disk)" -o giveup=3
expect_fail 1 "no export.*nothing" "$rdmablk" map "$(uri nothing)"
expect_fail 2 "takes a URI" "$rdmablk" map
expect_fail 2 "a name has" "$rdmablk" map "$(uri disk)" --name a/b
expect_nothing

# What dies in the middle, and what kills rdmablk-fuse.
device=$("$rdmablk" map "$(uri disk)")
pid=$(daemon_at "$place/image")
kill -KILL "$pid"
wait_for_exit "$pid" 10
# Its last thread has the mount until it has ended, too.
has_state() { [[ $(maps '.[0].state') == "$1" ]]; }
wait_until "the state without rdmablk-fuse is dead" has_state dead
expect_fail 1 "whose rdmablk-fuse has died; .rdmablk unmap" "$rdmablk" map "$(uri disk)"
"$rdmablk" unmap "$device" 2>"$scratch/notes"
expect_nothing
# A map that was killed before its device was there: its mount is.
mkdir --parents "$place"
touch "$place/image"
"$rdmablk" mount "$(uri disk)" "$place/image" --quiet
expect_fail 1 "is not mapped here" "$rdmablk" unmap "$place/image"
"$rdmablk" unmap "$(uri disk)"
expect_nothing
mkdir --parents "$place"
echo '{' >"$place/map.json"
device=$("$rdmablk" map "$(uri disk)") # takes away what is left

# By force, while it is mounted and the target does not answer.
mount "$device" "$scratch/fs"
kill -STOP "$target_pid"
timeout 30 "$rdmablk" unmap --force "$(uri disk)" 2>"$scratch/notes" || fail "unmap --force: $(cat "$scratch/notes")"
expect_match "what is lost" "it is mounted on $scratch/fs, and gets errors" "$(cat "$scratch/notes")"
kill -CONT "$target_pid"
umount "$scratch/fs" 2>/dev/null || umount --lazy "$scratch/fs"
device_is_free() { [[ ! -e /sys/block/${device#/dev/}/loop/backing_file ]]; }
wait_until "the device is free" device_is_free
expect_nothing
stop_target
