#!/bin/bash
# An export that is larger than the memory that its target may use.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
[[ $backing != memory ]] || backing=direct
make_disks

# An address space of 512 MiB: not even mapping the file would do. The limit is the target's alone, since a
# sanitizer's runtime, which maps terabytes, does not live with it.
run_with=(prlimit --as=$((512 << 20)))
"${run_with[@]}" "$RDMABLK_BIN/rdmablk-target" --version >/dev/null 2>&1 || skip "the target does not run in 512 MiB"
start_target --export "large=file:$disks/large.img,size=4G,sparse" --io-threads 2
run_with=()
expect_equal "size" $((4 << 30)) "$("$rdmablk" info --size "$(uri large)")"

image=$scratch/image
touch "$image"
mount_export large "$image"
verify_with_fio "$image" 4G --ioengine=libaio --iodepth=32 --rw=randwrite --bsrange=4k-1M --io_size=192M \
  --norandommap --randrepeat=0 --verify_backlog=64 --fsync=64
# The first and the last bytes, and some at either side of 2 and of 4 GiB of what was an int once.
for offset in 0 $(((1 << 31) - 7)) $(((1 << 32) - 13)); do
  head --bytes=13 /dev/urandom >"$scratch/piece"
  dd if="$scratch/piece" of="$image" bs=13 count=1 seek="$offset" oflag=seek_bytes conv=notrunc,fsync status=none
  expect_equal "13 bytes at $offset" "$(sha256 "$scratch/piece")" "$(sha256 "$image" "$offset" 13)"
  expect_equal "13 bytes of the file at $offset" "$(sha256 "$scratch/piece")" \
    "$(sha256 "$(backing_file large)" "$offset" 13)"
done
unmount_export "$image"
expect_equal "the size of the file" $((4 << 30)) "$(stat --format %s "$(backing_file large)")"
allocated=$(($(stat --format %b "$(backing_file large)") * 512))
((allocated < 1 << 30)) || fail "$allocated bytes of a sparse file are allocated"
stop_target
