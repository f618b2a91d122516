#!/bin/busybox sh
# shellcheck shell=dash
# Process 1 of a guest in QEMU at first: mounts the host's files under an overlay in memory, and goes on
# with vm_guest.sh there.
export PATH=/bin
/bin/busybox --install -s /bin

give_up() {
  echo "the guest's set-up failed: $*"
  poweroff -f
}

mkdir -p /proc /lower /memory /job /root
mount -t proc proc /proc
while read -r module; do
  insmod "/$module" || give_up "$module"
done </modules
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro root /lower || give_up "the host's files"
mount -t 9p -o trans=virtio,version=9p2000.L,ro job /job || give_up "the job's directory"
mount -t tmpfs -o mode=755,size=75% tmpfs /memory
mkdir /memory/upper /memory/work
mount -t overlay -o lowerdir=/lower,upperdir=/memory/upper,workdir=/memory/work overlay /root || give_up "the overlay"
cp /job/init /root/rdmablk-vm-init
umount /job
exec switch_root /root /bin/bash /rdmablk-vm-init
