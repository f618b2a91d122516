# Disks that forget and fail, for the tests of durability. A test sources this file after lib.sh or
# remote_lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # `scratch` is of lib.sh

tools_bin=$RDMABLK_BIN # remote_lib.sh wraps the programs under test, not the tools
medium=                # the file behind the disk: what a power cut leaves
disk=                  # the disk's path
disk_pid=

# export_of NAME PATH[,OPTION...]: an export of a file or device, as RDMABLK_TEST_BACKING asks for.
export_of() {
  case ${RDMABLK_TEST_BACKING:-direct} in
    direct) echo "$1=file:$2,direct=on" ;;
    buffered) echo "$1=file:$2,direct=off" ;;
    resident) echo "$1=file:$2,resident" ;;
    *) fail "RDMABLK_TEST_BACKING is '$RDMABLK_TEST_BACKING'" ;;
  esac
}

is_resident() { [[ ${RDMABLK_TEST_BACKING:-direct} == resident ]]; }

# make_disk SIZE: an empty backing file.
make_disk() {
  medium=$scratch/medium
  disk=$scratch/power/disk
  rm -f "$medium"
  truncate --size "$1" "$medium"
  mkdir --parents "$scratch/power"
}

# power_on [ARGUMENT...]: the disk on the backing file, with arguments of rdmablk-forgetful-fs.
power_on() {
  "$tools_bin/rdmablk-forgetful-fs" "$scratch/power" "$medium" "$@" &
  disk_pid=$!
  test_pids+=("$disk_pid")
  wait_until "there is a disk" disk_is_there_or_ended
  is_running "$disk_pid" || fail "rdmablk-forgetful-fs ended"
}

disk_is_there_or_ended() { [[ -e $disk ]] || ! is_running "$disk_pid"; }

# power_cut: what is held is gone. The mount goes as well.
power_cut() {
  kill -KILL "$disk_pid"
  wait "$disk_pid" 2>/dev/null || true
  umount --lazy "$scratch/power"
}

# order LINE: a fault of the disk (tests/faults/fault_plan.h).
order() { echo "$1" >"$scratch/power/control" || fail "the disk does not take '$1'"; }

# disk_counter NAME: reads, writes, syncs, flushes, held, lost.
disk_counter() { sed "s/.*\b$1=\([0-9]*\).*/\1/" "$scratch/power/control"; }

# write_at FILE OFFSET TEXT [CONV]: bytes at any offset; CONV is of dd: fsync, fdatasync.
write_at() {
  printf %s "$3" | dd of="$1" bs=1M oflag=seek_bytes seek="$2" conv="notrunc${4:+,$4}" status=none
}

# read_at FILE OFFSET COUNT: bytes; zero bytes show as '.'.
read_at() {
  dd if="$1" bs=1M iflag=skip_bytes,count_bytes skip="$2" count="$3" status=none | tr '\0' .
}
