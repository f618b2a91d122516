#!/bin/bash
# mount(8), umount(8), fstab: what they expect of a helper, and what users expect of them. In a guest the helpers
# are in /sbin; elsewhere they are called as mount(8) calls them.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
readonly usage=1 failed=32
helper=$tools/mount.rdmablk
[[ -z ${RDMABLK_TEST_RUNNER:-} ]] || helper="$RDMABLK_TEST_RUNNER $helper"

start_target --export "disk=memory:8M" --export "fixed=memory:1M,readonly"
chmod 755 "$scratch" # for others
image=$scratch/image
touch "$image"
mkdir "$scratch/dir"

# call ARGUMENT...: as mount(8) does.
# shellcheck disable=SC2086 # the runner and the helper
call() { $helper "$@"; }
field() { findmnt --noheadings --output "$1" "$2"; }
end_mount() {
  "$rdmablk" unmount "$1" || fail "cannot unmount $1"
}

# What it refuses, and how it ends then.
expect_fail $usage "mount.rdmablk: it takes a URI and a mount point" call "$(uri disk)"
expect_fail $usage "mount.rdmablk: unknown mount option 'give-up'; do you mean 'give_up'" \
  call "$(uri disk)" "$image" -o rw,give-up=3
expect_fail $usage "mount.rdmablk: unknown mount option 'fast'; there are" call "$(uri disk)" "$image" -o fast
expect_fail $usage "mount.rdmablk: .*not a URI" call /dev/sda "$image"
expect_fail $failed "mount.rdmablk: .*export" call "$(uri nothing)" "$image"
expect_fail $failed "mount.rdmablk: .*does not exist" call "$(uri disk)" "$scratch/nowhere"
expect_match "--help" "Exit status" "$(call --help)"

# What it only checks, or leaves out.
call "$(uri disk)" "$image" -f -v -o rw,_netdev 2>/dev/null
! is_mounted "$image" || fail "-f mounted"
call "$(uri disk)" "$image" -n -s -o rw,fast,x-systemd.automount,nofail,comment=mine,user=somebody,noatime 2>"$scratch/warning"
expect_match "what -s leaves out" "'fast' is unknown here" "$(cat "$scratch/warning")"
expect_equal "source and type" "$(uri disk) fuse.rdmablk" "$(field SOURCE,FSTYPE "$image" | xargs)"
expect_match "options" "rw,nosuid,nodev,noatime.*allow_other" "$(field OPTIONS "$image")"
expect_fail $failed "is already mounted" call "$(uri disk)" "$image"
pid=$(daemon_of "$image")

# Another user: the mode says who may.
expect_error "Permission denied" setpriv --reuid 65534 --clear-groups dd if="$image" of=/dev/null count=1

# remount.
call "$(uri disk)" "$image" -o remount,ro,nosuid,nodev,relatime,user_id=0,group_id=0,default_permissions,allow_other
expect_match "options, remounted" "^ro," "$(field OPTIONS "$image")"
expect_error "Read-only file system" dd if=/dev/zero of="$image" conv=notrunc count=1
call "$(uri disk)" "$image" -o remount,rw,give_up=7 2>"$scratch/warning"
expect_match "what stays" "give_up stay as they were" "$(cat "$scratch/warning")"
dd if=/dev/zero of="$image" conv=notrunc count=1 status=none
expect_fail $usage "unknown mount option 'rp'" call "$(uri disk)" "$image" -o remount,rp
expect_fail $failed "no export is mounted there" call "$(uri disk)" "$scratch/dir" -o remount,ro
end_mount "$image"
! is_running "$pid" || fail "the daemon is left"

# A read-only export, and a mount for others.
call "$(uri fixed)" "$scratch/dir" -o ro,mode=0444
expect_match "options of a read-only export" "^ro," "$(field OPTIONS "$scratch/dir")"
expect_fail $failed "was mounted to be read alone" call "$(uri fixed)" "$scratch/dir" -o remount,rw
setpriv --reuid 65534 --clear-groups dd if="$scratch/dir/fixed" of=/dev/null bs=4k count=1 status=none ||
  fail "another user cannot read what may be read by all"
end_mount "$scratch/dir"

# differs PID: whether its mount namespace is not this one.
differs() { [[ $(readlink "/proc/$1/ns/mnt") != "$(readlink /proc/self/ns/mnt)" ]]; }

# Only in a guest are mount(8)'s own directories ours.
if [[ ${RDMABLK_IN_VM:-} == 1 ]]; then
  for name in {,u}mount{,.fuse}.rdmablk; do ln -s "$tools/$name" "/sbin/$name"; done
  short=rdmablk://$target/disk
  cat >/etc/fstab <<END
$short $image rdmablk rw,_netdev,nofail,x-systemd.automount,give_up=20 0 0
$(uri fixed) $scratch/dir fuse.rdmablk ro,noauto,user,mode=0444 0 0
END
  mount -a
  expect_equal "mount -a" "$short fuse.rdmablk" "$(field SOURCE,FSTYPE "$image" | xargs)"
  mount -a # has nothing to do
  expect_equal "mounts" 1 "$(findmnt --noheadings "$image" | wc --lines)"
  pid=$(daemon_of "$image")
  dd if=/dev/urandom of="$image" conv=notrunc bs=64k count=4 status=none
  mount -o remount,ro "$image"
  expect_match "remounted by mount(8)" "^ro," "$(field OPTIONS "$image")"
  exec {held}<"$image"
  expect_error "in use|busy" umount "$image"
  exec {held}<&-
  umount "$image"
  ! is_running "$pid" || fail "umount(8) did not wait for the daemon"
  mount "$scratch/dir"
  expect_equal "a line with noauto" fuse.rdmablk "$(field FSTYPE "$scratch/dir")"
  mount -t rdmablk "$short" "$image" -o ro
  umount --all --types fuse.rdmablk
  for path in "$image" "$scratch/dir"; do ! is_mounted "$path" || fail "umount --all left $path"; done
  status=0
  mount -t rdmablk "$(uri nothing)" "$image" 2>/dev/null || status=$?
  expect_equal "exit status of mount(8)" $failed "$status"
  # In the mount namespace of another process.
  unshare --mount --propagation private sleep 60 &
  test_pids+=($!)
  wait_until "there is another namespace" differs "$!"
  mount --namespace $! -t rdmablk "$short" "$image"
  ! is_mounted "$image" || fail "it is mounted in this namespace"
  nsenter --mount --target $! findmnt "$image" >/dev/null || fail "it is not mounted in the other namespace"
  umount --namespace $! "$image"
fi
stop_target
