# Device mapper's test devices, for tests in the guest of scripts/vm. A test sources this file after
# faults_lib.sh. All of it is gone with the guest.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and of use to those who source this
[[ -n ${RDMABLK_IN_VM:-} ]] || skip "it makes devices, which it does only in the guest of scripts/vm"

check_ext4=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../faults/check_ext4")
logged=
log_device=

# make_loop FILE SIZE: prints the loop device on a new file in memory.
make_loop() {
  rm -f "$1"
  truncate --size "$2" "$1"
  losetup --direct-io=off --find --show "$1"
}

# make_dm NAME TABLE: prints the device. Without udev there is no link to it in /dev/mapper.
make_dm() {
  dmsetup create "$1" --table "$2" || fail "dmsetup create $1 --table '$2'"
  echo "/dev/dm-$(dmsetup info --columns --noheadings --options minor "$1")"
}

# remove_dm NAME: a process that has ended leaves it busy until the kernel has cleared its rings away.
remove_dm() { wait_until "device $1 is free" dmsetup remove "$1" 2>/dev/null; }

# make_logged_device SIZE LOG-SIZE: $logged, whose writes go to a log as well.
make_logged_device() {
  local data
  data=$(make_loop "$scratch/data" "$1")
  log_device=$(make_loop "$scratch/log" "$2")
  logged=$(make_dm logged "0 $(blockdev --getsz "$data") log-writes $data $log_device")
}

# mark TEXT: in the log, behind what is on the disk by now.
mark() { dmsetup message logged 0 mark "$1"; }

# remove_logged_device: the log is complete then.
remove_logged_device() {
  remove_dm logged
  expect_equal "log: was there room" "" "$(dmesg | grep 'Ran out of space on the logdev' || true)"
}

# replay_log ARGUMENT...: of rdmablk-log-writes-replay, onto a file of zeroes.
replay_log() {
  rm -f "$scratch/replayed"
  truncate --size "$(stat --format %s "$scratch/data")" "$scratch/replayed"
  "$tools_bin/rdmablk-log-writes-replay" "$log_device" "$scratch/replayed" "$@"
}
