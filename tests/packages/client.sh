#!/bin/bash
# The package of the client where systemd is the first process: fstab, maptab and the units bring up mounts and
# block devices, and take them down in the order that loses nothing.
# Runs in a guest (scripts/vm --init systemd).
#
# Environment:
#   RDMABLK_PACKAGES   the directory of the packages
#   RDMABLK_TEST_ADDRESS
export RDMABLK_BIN=/usr/bin
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/packages/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
: "${RDMABLK_PACKAGES:?}" "${RDMABLK_TEST_ADDRESS:?}"
[[ $(</proc/1/comm) == systemd ]] || skip "systemd is not the first process"
start

readonly target=rdmablk://$RDMABLK_TEST_ADDRESS fs=/srv/data disk=/srv/disk
# now COMMAND...: shows the journal when it fails.
now() { "$@" || fail "$*: $(journalctl --no-pager --lines=40 --output=cat 2>&1)"; }
is_active() { [[ $(systemctl is-active "$1" || true) == active ]]; }

install_packages rdmablk-target rdmablk
for helper in mount.rdmablk mount.fuse.rdmablk umount.rdmablk umount.fuse.rdmablk; do
  [[ -x /sbin/$helper ]] || fail "there is no /sbin/$helper"
done
expect_equal "systemd-analyze verify" "" "$(systemd-analyze verify rdmablk-map@x.service rdmablk-mount@x.service 2>&1)"

now systemctl start systemd-udevd
systemd-run --quiet --unit=lender --property=LimitMEMLOCK=infinity rdmablk-target --insecure \
  --listen "$RDMABLK_TEST_ADDRESS" --export disk=memory:16M --export data=memory:32M --export other=memory:1M
wait_until "the target listens" rdmablk list "$RDMABLK_TEST_ADDRESS" 2>/dev/null >&2

# What an administrator writes.
mkdir --parents /etc/rdmablk/mounts "$disk" "$fs" /srv/other
echo "data $target/data give_up=60" >/etc/rdmablk/maptab
cat >/etc/fstab <<END
$target/disk $disk rdmablk _netdev,nofail,give_up=60 0 0
/dev/rdmablk/by-name/data $fs ext4 _netdev,nofail,x-systemd.requires=rdmablk-map@data.service 0 0
END
printf 'URI=%s\nMOUNTPOINT=%s\nOPTIONS=ro\n' "$target/other" /srv/other >/etc/rdmablk/mounts/other.conf
mkfs.ext4 -q "$(rdmablk map data)"
rdmablk unmap data

# Up.
now systemctl daemon-reload
now systemctl start remote-fs.target rdmablk-mount@other.service
for path in "$disk" "$fs" /srv/other; do wait_until "$path is mounted" is_mounted "$path"; done
[[ -f $disk/disk && -f /srv/other/other ]] || fail "the images are not there"
wait_until "systemd knows the device by its name" is_active 'dev-rdmablk-by\x2dname-data.device'
is_active rdmablk-map@data.service || fail "the device was made otherwise"
head --bytes=4M /dev/urandom >"$fs/file"
sum=$(sha256 "$fs/file")

# A mount whose process is killed comes up again.
pid=$(systemctl show --value --property MainPID rdmablk-mount@other.service)
kill -KILL "$pid"
is_another() {
  local now
  now=$(systemctl show --value --property MainPID rdmablk-mount@other.service)
  ((now != 0 && now != $1)) && is_active rdmablk-mount@other.service
}
wait_until "it is mounted anew" is_another "$pid"

# Down: the file system on the device goes first.
now systemctl stop rdmablk-map@data.service rdmablk-mount@other.service srv-disk.mount
for path in "$disk" "$fs" /srv/other; do ! is_mounted "$path" || fail "$path is mounted still"; done
expect_equal "maps" "" "$(rdmablk map --list --json | jq '.maps[]')"
expect_equal "processes" "" "$(pgrep --list-full rdmablk-fuse || true)"
for path in /run/rdmablk-maps /dev/rdmablk; do [[ ! -e $path ]] || fail "$path is left"; done
expect_equal "units that failed" "" "$(systemctl list-units --failed --plain --no-legend 'rdmablk*' 'srv*')"

# Up again, by what needs it: what was written is there.
now systemctl start srv-data.mount
expect_equal "what was written" "$sum" "$(sha256 "$fs/file")"
now systemctl stop rdmablk-map@data.service
systemctl stop lender
