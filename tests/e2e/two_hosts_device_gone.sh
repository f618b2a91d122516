#!/bin/bash
# An RDMA device of the target is removed under a mounted, verified load: the target lets go of it, so that
# the kernel can remove it, and serves again when it is back; the load goes on, and so does, all the time, a
# mount over another device.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts
kind=${device%0}
other_address=${RDMABLK_VM_PEER_ADDRESS_1:-} # with --links 2
socket=$scratch/admin.sock
address=0.0.0.0
start_target --export "$(export_spec disk 16M)" --export "$(export_spec other 16M)" --admin-socket "$socket"
port=${target##*:}
target=$RDMABLK_VM_PEER_ADDRESS:$port

target_status() { at target "$tools/rdmablk" status --socket "$socket"; }

# load FILE: writes and verifies it until $scratch/enough is there; a line in FILE.rounds for each time.
load() {
  while [[ ! -e $scratch/enough ]]; do
    verify_with_fio "$1" 8M --ioengine=libaio --iodepth=16 --rw=randwrite --bs=16k
    echo verified >>"$1.rounds"
  done
}

rounds() { if [[ -e $1.rounds ]]; then wc --lines <"$1.rounds"; else echo 0; fi; }
has_rounds() { (($(rounds "$1") >= $2)); }

# expect_more_rounds FILE...: the load of each goes on.
expect_more_rounds() {
  local file
  for file in "$@"; do
    # One may have been all but over before.
    wait_until "the load on $file goes on" has_rounds "$file" "$(($(rounds "$file") + 2))"
  done
}

is_in_log() { grep --quiet "$1" "$target_log"; }
is_removed() { [[ -e $scratch/removed ]]; }
remove_device() {
  at target rdma link delete "$device"
  touch "$scratch/removed"
}

image=$scratch/image
touch "$image"
mount_export disk "$image"
images=("$image")
if [[ -n $other_address ]]; then
  other=$scratch/other
  touch "$other"
  "$rdmablk" mount "rdmablk://$other_address:$port/other" "$other" --quiet
  images+=("$other")
fi
loads=()
for file in "${images[@]}"; do
  run_in_background load "$file"
  loads+=("$!")
done
expect_more_rounds "${images[@]}"

run_in_background remove_device
wait_until "$device is removed from under the target" is_removed
wait_until "the target says so" is_in_log "RDMA device $device was removed"
wait_until "the target has let go of it" is_in_log "RDMA device $device: nothing of it is in use"
expect_match "the target's status" "away +$device" "$(target_status)"
[[ -z $other_address ]] || expect_more_rounds "$other"

at target rdma link add "$device" type "$kind" netdev "$interface"
wait_until "the target serves it again" is_in_log "RDMA device $device is back, and is served"
expect_more_rounds "${images[@]}"
[[ ! $(target_status) =~ away ]] || fail "the device is still away: $(target_status)"
"$rdmablk" list "$target" >"$scratch/list"
expect_match "the exports" "disk" "$(cat "$scratch/list")"

touch "$scratch/enough"
for process in "${loads[@]}"; do wait "$process" || fail "a load failed"; done
for file in "${images[@]}"; do unmount_export "$file"; done
stop_target
