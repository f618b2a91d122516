#!/bin/bash
# The user of fresh.sh, in its guest. Usage: fresh_user.sh first|again
#
#   first   installs the packages, tries what the manual says, and leaves file systems mounted when the machine
#           is shut down
#   again   finds after the next boot what was written, removes the packages, and looks for what is left
#
# Environment:
#   RDMABLK_PACKAGES   the directory of the packages
#   RDMABLK_SHARE      a directory that outlives the boot
#   RDMABLK_TEST_ADDRESS
export RDMABLK_BIN=/usr/bin
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
: "${RDMABLK_PACKAGES:?}" "${RDMABLK_SHARE:?}" "${RDMABLK_TEST_ADDRESS:?}"
start
unset STATE_DIRECTORY RUNTIME_DIRECTORY # of the service, here

readonly host=$RDMABLK_TEST_ADDRESS key=/etc/rdmablk/alice.key unit=rdmablk-target.service
readonly option=keyfile=$key uri=rdmablk://$RDMABLK_TEST_ADDRESS
readonly image=/mnt/scratch disk=/dev/rdmablk/by-name/disk fs=/srv/disk

# do_it WHAT COMMAND...: as the manual says; what it printed is shown when it fails.
do_it() {
  local what=$1
  shift
  "$@" >"$scratch/did" 2>&1 || fail "$what: '$*' ended with status $?: $(tail -n 30 "$scratch/did")"
  echo "$what: done"
}

install_them() {
  do_it "the packages are installed" apt-get install --yes "$RDMABLK_PACKAGES"/rdmablk{,-target}_*.deb
  # What the boot of a machine has, and the guest's has not.
  systemctl start systemd-udevd
  systemctl daemon-reload
}

configure() {
  mkdir --parents /mnt /srv/disk /mnt/auto
  cat >/etc/rdmablk/target.toml <<END
auth = "/etc/rdmablk/keys"
admin_group = "rdmablk-admin"

[export.scratch]
type = "memory"
size = "64M"
allow = ["alice"]

[export.disk]
type = "file"
path = "/var/lib/rdmablk/disk.img"
size = "${1:-128M}"
sparse = true

[export.auto]
type = "file"
path = "/var/lib/rdmablk/auto.img"
size = "16M"
sparse = true
END
}

make_keys() {
  (
    cd "$scratch"
    umask 077
    rdmablk keygen alice --output alice.key
    cat alice.key >>keys
    install -o rdmablk -m 600 keys /etc/rdmablk/keys
    install -m 600 alice.key "$key"
  )
}

fill_in_tables() {
  echo "disk $uri/disk $option,give_up=never" >/etc/rdmablk/maptab
  cat >/etc/fstab <<END
$uri/auto /mnt/auto rdmablk _netdev,nofail,x-systemd.automount,$option,give_up=never 0 0
$disk $fs ext4 _netdev,nofail,x-systemd.requires=rdmablk-map@disk.service 0 2
END
  systemctl daemon-reload
}

# -- What is tried

check_programs() {
  local file missing
  while read -r file; do
    [[ -f $file && ! -L $file && $(head --bytes=4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
    missing=$(ldd "$file" | grep "not found" || true)
    expect_equal "libraries that $file lacks" "" "$missing"
  done < <(dpkg --listfiles rdmablk rdmablk-target | sort --unique)
  [[ -f /usr/share/doc/rdmablk/operating.md && -f /usr/share/doc/rdmablk-target/operating.md ]] || fail "there is no manual"
}

start_target() {
  expect_error "auth.*keygen" rdmablk-target --config /etc/rdmablk/target.toml --check-config
  configure
  make_keys
  do_it "the configuration is good" rdmablk-target --config /etc/rdmablk/target.toml --check-config --as-user rdmablk
  do_it "the service starts" systemctl enable --now "$unit"
  do_it "the doctor finds nothing" rdmablk doctor "$host" --keyfile "$key"
  expect_match "exports" "auto.*disk.*scratch" "$(rdmablk list "$host" --keyfile "$key" | tr '\n' ' ')"
}

mount_scratch() { mount -t rdmablk "$uri/scratch" "$image" -o "$option${1:+,$1}"; }

as_bob() { (cd /home/bob && setpriv --reuid bob --regid bob --init-groups "$@"); }

# A mount of root's is for root, unless it says otherwise.
other_user() {
  useradd --create-home bob
  do_it "fio and QEMU are installed" apt-get install --yes --no-install-recommends fio qemu-utils
  touch "$image"
  mount_scratch
  expect_error "Permission denied" as_bob head --bytes=1 "$image"
  umount "$image"
  mount_scratch uid=bob
  do_it "another user writes and verifies" as_bob fio --name=a --filename="$image" --size=8M --rw=randwrite \
    --bs=16k --direct=1 --ioengine=libaio --iodepth=8 --verify=crc32c --verify_fatal=1
  umount "$image"
}

# QEMU past the page cache, with each of its ways; what it wrote is there for others.
virtual_machine() {
  local way offset=0
  mount_scratch
  for way in threads native io_uring; do
    do_it "QEMU with $way" qemu-io --format raw --nocache --aio "$way" --cmd "write -P 0x5a ${offset}M 1M" \
      --cmd "read -P 0x5a ${offset}M 1M" --cmd "write -z ${offset}M 64k" --cmd "read -P 0 ${offset}M 64k" --cmd flush "$image"
    expect_match "what QEMU wrote" "5a 5a 5a 5a" \
      "$(rdmablk hexdump "$uri/scratch" --keyfile "$key" --offset $(((offset << 20) + 65536)) --length 16)"
    expect_equal "zeroes that QEMU wrote" 0 "$(head --bytes=64K <(dd if="$image" bs=64K skip=$((offset * 16)) count=1 status=none) |
      tr -d '\0' | wc --bytes)"
    offset=$((offset + 2))
  done
  do_it "QEMU with many requests" qemu-img bench -f raw -t none -n -i native -w -d 32 -c 500 -s 64k "$image"
  umount "$image"
}

# Swap takes a device.
swap() {
  mount_scratch
  mkswap "$image" >"$scratch/did" 2>&1 || fail "$(<"$scratch/did")"
  expect_error "Invalid argument" swapon "$image"
  umount "$image"
  rdmablk map "$uri/scratch" --name swap -o "$option" >/dev/null
  do_it "swap is made" mkswap /dev/rdmablk/by-name/swap
  do_it "swap is used" swapon /dev/rdmablk/by-name/swap
  expect_error "swapoff /dev/loop" rdmablk unmap swap
  swapoff /dev/rdmablk/by-name/swap
  rdmablk unmap swap
}

# The process behind a mount dies; the same command mounts again.
killed() {
  local pid layout
  for layout in file directory; do
    rm -rf --one-file-system "$image"
    if [[ $layout == file ]]; then touch "$image"; else mkdir "$image"; fi
    mount_scratch
    pid=$(pgrep rdmablk-fuse)
    kill -KILL "$pid"
    wait_for_exit "$pid" 10
    expect_match "a mount that is dead" " dead " "$(rdmablk mounts)"
    expect_match "mounting again" "cleared a dead mount" "$(mount_scratch 2>&1)"
    expect_match "a mount that works" " connected " "$(rdmablk mounts)"
    umount "$image"
  done
  rmdir "$image"
  touch "$image"
}

unreachable() {
  local hint='rping -s.*rping -c.*'
  expect_error "no answer.*UDP port 4791.*10812 and 10813.*$hint" \
    mount -t rdmablk rdmablk://192.168.77.9/scratch "$image" -o "$option"
  expect_error "no answer.*UDP port 4791.*10812 and 10813.*$hint" rdmablk list 192.168.77.9 --timeout 1
  expect_error "nothing listens on this port" rdmablk list "$host:10900" --keyfile "$key"
  expect_error "no RDMA device of this host leads there.*rdma link" rdmablk list 127.0.0.1 --keyfile "$key"
}

# container DEVICES CAPABILITIES MEMLOCK COMMAND...: with those devices below /dev, and Docker's capabilities and
# the given ones.
container() {
  unshare --mount --pid --fork --kill-child --propagation private bash -c '
    mkdir --parents /tmp/container
    mount --rbind / /tmp/container
    mount -t tmpfs -o mode=755 tmpfs /tmp/container/dev
    for name in null zero full random urandom $1; do cp -a "/dev/$name" /tmp/container/dev; done
    mount -t proc proc /tmp/container/proc
    capabilities=-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+net_raw,+sys_chroot,+mknod$2
    ulimit -l "$3"
    shift 3
    exec chroot /tmp/container setpriv --bounding-set "$capabilities" --inh-caps "$capabilities" "$@"' bash "$@"
}

in_container() {
  expect_error "no RDMA device.*--device=/dev/infiniband" container "" "" 64 rdmablk devices
  expect_error "--device=/dev/infiniband" container "" "" 64 rdmablk list "$host" --keyfile "$key"
  expect_error "ulimit -l [0-9]+.*--ulimit memlock=-1" container infiniband "" 64 rdmablk list "$host" --keyfile "$key"
  expect_error "ulimit -l [0-9]+.*--ulimit memlock=-1" container "infiniband fuse" ,+sys_admin 64 \
    mount -t rdmablk "$uri/scratch" "$image" -o "$option"
  expect_error "--device=/dev/fuse" container infiniband ,+sys_admin unlimited \
    mount -t rdmablk "$uri/scratch" "$image" -o "$option"
  expect_error "--cap-add SYS_ADMIN" container "infiniband fuse" "" unlimited \
    mount -t rdmablk "$uri/scratch" "$image" -o "$option"
  expect_error "fuse .*--device=/dev/fuse" container infiniband "" 64 rdmablk doctor
  do_it "copying in a container" container infiniband "" 65536 rdmablk copy /etc/debian_version "$uri/scratch" \
    --keyfile "$key" --verify
  do_it "mounting in a container" container "infiniband fuse" ,+sys_admin 65536 \
    sh -c "mount -t rdmablk $uri/scratch $image -o $option && head --bytes=4K $image && umount $image"
}

has_grown() { (($(blockdev --getsize64 "$disk") == 192 << 20)); }

# A disk is filled, and grows below its file system.
fill() {
  local blocks
  do_it "filling" rdmablk fill "$uri/scratch" --random --seed 7 --verify --keyfile "$key"
  rdmablk map "$uri/disk" --name disk -o "$option" >/dev/null
  mkfs.ext4 -q "$disk"
  mount "$disk" "$fs"
  head --bytes=20M /dev/urandom >"$fs/file"
  blocks=$(stat --file-system --format %b "$fs")
  expect_error "change its size there, and .rdmablk reload" rdmablk export resize disk +64M
  configure 192M
  do_it "the configuration is read again" systemctl reload "$unit"
  wait_until "the device grows" has_grown
  do_it "the file system grows" resize2fs "$disk"
  (($(stat --file-system --format %b "$fs") > blocks)) || fail "the file system has not grown"
  sha256 "$fs/file" >"$RDMABLK_SHARE/sum"
  expect_error "exports are mounted.*/run/rdmablk-maps/" apt-get remove --yes rdmablk
  [[ -x /usr/bin/rdmablk ]] || fail "the package is gone while exports are mounted"
  umount "$fs"
  rdmablk unmap disk
}

# Files and file systems on exports are in use when the machine is shut down. What the target's files hold then
# is kept: after the target has ended, by a service that was started before.
leave_in_use() {
  cat >/etc/systemd/system/keep.service <<END
[Unit]
Before=$unit
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=true
ExecStop=tar --create --sparse --directory /var/lib/rdmablk --file $RDMABLK_SHARE/state.tar .
END
  systemctl stop "$unit"
  fill_in_tables
  systemctl start keep.service
  do_it "all is up" systemctl start "$unit" remote-fs.target
  wait_until "the file system is mounted" is_mounted "$fs"
  expect_equal "what was written before" "$(<"$RDMABLK_SHARE/sum")" "$(sha256 "$fs/file")"
  [[ $(findmnt --noheadings --output FSTYPE /mnt/auto) == autofs ]] || fail "it is mounted before somebody goes there"
  [[ -f /mnt/auto/auto ]] || fail "the image is not mounted when somebody goes there"
  head --bytes=4M /dev/urandom | tee "$RDMABLK_SHARE/auto" | dd of=/mnt/auto/auto conv=notrunc iflag=fullblock bs=64K status=none
  seq 1 3000000 | tee "$RDMABLK_SHARE/late" >"$fs/late"
}

# -- After the next boot

find_it_again() {
  [[ -s $RDMABLK_SHARE/state.tar ]] || fail "the machine was not shut down in order"
  configure 192M
  make_keys
  tar --extract --directory /var/lib/rdmablk --file "$RDMABLK_SHARE/state.tar"
  chown -R rdmablk: /var/lib/rdmablk
  expect_equal "the file system's journal" "" "$(dumpe2fs -h /var/lib/rdmablk/disk.img 2>&1 | grep needs_recovery || true)"
  do_it "the file system is in order" e2fsck -fn /var/lib/rdmablk/disk.img
  fill_in_tables
  do_it "all is up again" systemctl start "$unit" remote-fs.target
  wait_until "the file system is mounted" is_mounted "$fs"
  expect_equal "what was written first" "$(<"$RDMABLK_SHARE/sum")" "$(sha256 "$fs/file")"
  cmp "$RDMABLK_SHARE/late" "$fs/late" || fail "what was written last is not there"
  cmp --bytes=$((4 << 20)) "$RDMABLK_SHARE/auto" /mnt/auto/auto || fail "what was written to the image is not there"
}

# files: those that there may be more or less of.
files() {
  find /etc /usr /var /run -xdev \( -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/cache -o -path /var/log -o \
    -path /run/systemd -o -path /run/udev -o -path /run/log -o -path /run/lock -o -path /run/mount \) -prune -o -print | sort
}

remove_all() {
  systemctl stop mnt-auto.automount mnt-auto.mount rdmablk-map@disk.service
  do_it "the packages are removed" apt-get purge --yes rdmablk rdmablk-target
  rm /etc/rdmablk/keys "$key" /etc/rdmablk/maptab /var/lib/rdmablk/{disk,auto}.img # the administrator's own
  rmdir /etc/rdmablk /var/lib/rdmablk
  : >/etc/fstab
  systemctl daemon-reload
  files >"$scratch/after"
  expect_equal "files that are left" "" "$(comm -13 "$scratch/before" "$scratch/after")"
  expect_equal "processes that are left" "" "$(pgrep --list-full '^rdmablk' || true)"
  expect_equal "units that are left" "" "$(systemctl list-units --all --plain --no-legend 'rdmablk-*' | grep -v '^rdmablk-vm' || true)"
  expect_equal "loop devices that are left" "" "$(losetup --list --noheadings)"
  expect_equal "users that are left" "rdmablk rdmablk-admin" \
    "$(getent group | cut --delimiter : --fields 1 | grep rdmablk | sort | xargs)"
}

case ${1:-} in
  first)
    install_them
    for step in check_programs start_target other_user virtual_machine swap killed unreachable in_container fill leave_in_use; do
      "$step"
      echo "$step: as it should be"
    done
    ;;
  again)
    # All but the packages is there before, as what they need stays.
    install_them
    apt-get purge --yes --quiet rdmablk rdmablk-target >/dev/null 2>&1
    files >"$scratch/before"
    install_them
    find_it_again
    remove_all
    ;;
  *) fail "first or again?" ;;
esac
