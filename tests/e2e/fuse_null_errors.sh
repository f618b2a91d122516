#!/bin/bash
# Whatever cannot work says so in one line, with the right exit status, and leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start

readonly failed=1 usage=2
fuse=$RDMABLK_BIN/rdmablk-fuse
image=$scratch/image
touch "$image"
mkdir --parents "$scratch/full/inside" "$scratch/empty"
echo precious >"$scratch/data"
mkfifo "$scratch/fifo"

# The command line.
expect_fail $usage "URI and a mount point" "$fuse"
expect_fail $usage "URI and a mount point" "$fuse" rdmablk://localhost/disk
expect_fail $usage "mount point alone" "$fuse" --null 1M
expect_fail $usage "--fast" "$fuse" --fast --null 1M "$image"
expect_fail $usage "rdmablk://HOST" "$fuse" nfs://localhost/disk "$image"
for size in 0 -512 1.5M 513 many 18446744073709551616; do
  expect_fail $usage "null $size" "$fuse" --null="$size" "$image"
done
expect_fail $usage "unknown mount option 'speed'" "$fuse" --null 1M "$image" -o ro,speed=9
expect_fail $usage "unknown mount option 'sync_all'" "$fuse" --null 1M "$image" -o sync_all
expect_fail $usage "uid=root" "$fuse" --null 1M "$image" -o uid=root
expect_fail $usage "mode=999" "$fuse" --null 1M "$image" -o mode=999
expect_fail $usage "workers" "$fuse" --null 1M "$image" --workers 0
expect_fail $usage "queue_depth" "$fuse" --null 1M "$image" --queue-depth=many
expect_fail $usage "log level" "$fuse" --null 1M "$image" --log-level loud
expect_fail $failed "map 1048576 TiB|Cannot allocate" "$fuse" --null 100000T "$image"
grep --quiet "Usage: rdmablk-fuse" < <("$fuse" --help) || fail "no help"
grep --quiet "rdmablk-fuse [0-9]" < <("$fuse" --version) || fail "no version"

# The mount point.
expect_fail $failed "$scratch/missing does not exist" "$fuse" --null 1M "$scratch/missing"
expect_fail $failed "$scratch/no/where does not exist" "$fuse" --null 1M "$scratch/no/where"
expect_fail $failed "Not a directory" "$fuse" --null 1M "$scratch/data/below"
expect_fail $failed "full is not empty" "$fuse" --null 1M "$scratch/full"
expect_fail $failed "data is not empty: it is a file with 9 bytes" "$fuse" --null 1M "$scratch/data"
expect_fail $failed "neither a file nor a directory" "$fuse" --null 1M "$scratch/fifo"

mount_image --null 1M "$image"
expect_fail $failed "$image is already mounted: it shows null" "$fuse" --null 1M "$image"
ln --symbolic image "$scratch/link"
expect_fail $failed "$image is already mounted" "$fuse" --null 1M "$scratch/link"
expect_equal "the first mount" 1048576 "$(stat --format %s "$image")"
unmount_image "$image"

# Without the rights to mount there; the line is fusermount3's.
chmod 755 "$scratch"
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
if as_nobody "$fuse" --version >/dev/null 2>&1; then
  expect_fail $failed "cannot mount on $scratch/empty: user has no write access" \
    as_nobody "$fuse" --null 1M "$scratch/empty"
fi

# In the foreground they are the same.
expect_fail $failed "is not empty" "$fuse" --null 1M "$scratch/full" -f
expect_fail $failed "Cannot allocate" "$fuse" --null 100000T "$image" -f

expect_equal "mounts left behind" "" "$(mounts_of '')"
expect_equal "processes left behind" "" "$(daemons)"

# Standard descriptors that are closed are taken by nothing else, and a message that cannot be written is
# no crash.
for closed in '0<&- 1>&-' '0<&- 2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
  (eval "exec $closed" && exec timeout 30 "$fuse" --quiet --null 1M "$image") || fail "mounting with $closed: $?"
  is_mounted "$image" || fail "nothing is mounted with $closed"
  unmount_image "$image"
done
status=0
"$fuse" --fast 2>/dev/full || status=$?
expect_equal "exit status when the error cannot be written" $usage "$status"

# Of several who mount on one place at the same time one does.
for _ in 1 2 3 4; do run_in_background "$fuse" --quiet --null 1M "$image" 2>/dev/null; done
for pid in "${test_pids[@]: -4}"; do wait "$pid" || true; done
expect_equal "mounts" "$image" "$(mounts_of '')"
unmount_image "$image"
