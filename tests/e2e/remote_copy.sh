#!/bin/bash
# rdmablk copy, fill, zero and hexdump: what comes out is what went in, holes stay holes, and what cannot
# work says so.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/schema_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/schema_lib.sh"
start_remote
readonly failed=1 usage=2
disk=$scratch/disk.img
truncate --size=16M "$disk"
start_target --export memory=memory:16M,chunk=4M --export other=memory:16M --export file=file:"$disk" \
  --export small=memory:1M --export rom=memory:1M,readonly

source=$scratch/source
copied=$scratch/copied

# make_source SIZE: of data and, behind 1 MiB of it, holes.
make_source() {
  rm -f "$source"
  head --bytes 1M /dev/urandom >"$source"
  truncate --size="$1" "$source"
}

# expect_same WHAT FILE FILE
expect_same() { cmp "$2" "$3" || fail "$1: $2 and $3 differ"; }

# expect_small FILE: it takes no more than 2 MiB of disk.
expect_small() {
  local blocks
  blocks=$(stat --format %b "$1") # of 512 bytes
  ((blocks <= 4096)) || fail "$1 takes $blocks blocks of disk"
}

quiet() { "$rdmablk" "$1" --quiet "${@:2}" 2>/dev/null; }

# A file to each kind of export, from there to the other, and back.
make_source 16M
quiet copy "$source" "$(uri memory)" --verify
quiet copy "$(uri memory)" "$(uri file)" --verify --queues 3 --depth 5 --block-size 100000
quiet copy "$(uri file)" "$copied" --verify
expect_same "round" "$source" "$copied"
expect_same "the target's file" "$source" "$disk"
expect_small "$disk"
expect_small "$copied"
expect_match "summary" '^16 MiB copied, 15 MiB of that zeroes, in .*; verified$' \
  "$("$rdmablk" copy "$source" "$(uri file)" --verify)"

# Sizes that no block has; what lies behind stays.
"$rdmablk" fill "$(uri memory)" --pattern ff --quiet
for size in 1 511 1048577; do
  make_source "$size"
  expect_match "note" "note: .* is larger than .*: its last $(((16 << 20) - size)) bytes stay" \
    "$("$rdmablk" copy "$source" "$(uri memory)" --quiet 2>&1)"
  quiet copy "$(uri memory)" "$copied"
  cmp --bytes "$size" "$source" "$copied" || fail "$size bytes are not the same"
  expect_equal "the byte behind $size" ff "$(od -A n -t x1 -j "$size" -N 1 "$copied" | tr -d ' ')"
done

# An empty file, and one over a longer one.
: >"$source"
quiet copy "$source" "$copied"
expect_equal "size of an empty file" 0 "$(stat --format %s "$copied")"

# Pipes.
make_source 3000001
quiet copy - "$(uri other)" <"$source"
cmp --bytes 3000001 <(quiet copy "$(uri other)" -) "$source" || fail "what came out of a pipe is not what went in"
quiet copy - "$copied" < <(cat "$source")
expect_same "a pipe to a file" "$source" "$copied"
expect_error "standard input has more than the 1048576 bytes.*small is incomplete" \
  "$rdmablk" copy - "$(uri small)" <"$source"
"$rdmablk" copy "$(uri other)" - 2>"$scratch/complaint" | head --bytes 1 >/dev/null || true
[[ ! -s $scratch/complaint ]] || expect_match "a reader that goes away" "Broken pipe; standard output is incomplete" "$(<"$scratch/complaint")"

# Every byte, when asked for.
truncate --size=0 "$source"
truncate --size=1M "$source"
quiet copy "$source" "$copied" --no-sparse
(($(stat --format %b "$copied") >= 2048)) || fail "--no-sparse left holes"

# A block device, which must not be in use.
if [[ -c /dev/loop-control ]]; then
  truncate --size=4M "$scratch/loop.img"
  loop=$(losetup --find --show "$scratch/loop.img")
  make_source 3M
  quiet copy "$source" "$loop" --verify
  cmp --bytes 3M "$source" "$loop" || fail "what was copied to a block device is not there"
  quiet copy "$loop" "$(uri memory)" --verify
  make_source 5M
  expect_fail $failed "room for 4194304; nothing was written" "$rdmablk" copy "$source" "$loop"
  mkfs.ext4 -q "$loop"
  mkdir "$scratch/mounted"
  mount "$loop" "$scratch/mounted"
  make_source 1M
  expect_fail $failed "$loop: it is in use" "$rdmablk" copy "$source" "$loop"
  umount "$scratch/mounted"
fi

# Patterns, zeroes and dumps.
"$rdmablk" fill "$(uri small)" --random --seed 7 --verify --quiet
quiet copy "$(uri small)" "$copied"
"$rdmablk" fill "$(uri small)" --random --seed 8 --quiet
"$rdmablk" fill "$(uri small)" --random --seed 7 --quiet
quiet copy "$(uri small)" "$source"
expect_same "two fillings with one seed" "$source" "$copied"
"$rdmablk" fill "$(uri small)" --pattern c0ffee --offset 4097 --length 6 --quiet
"$rdmablk" zero "$(uri small)" --offset 8K --length 100001 --quiet
quiet copy "$(uri small)" "$copied"
expect_equal "a pattern" c0ffeec0ffee "$(od -A n -t x1 -j 4097 -N 6 "$copied" | tr -d ' ')"
expect_equal "zeroes" "$(head --bytes 100001 /dev/zero | sha256sum | cut -d ' ' -f 1)" "$(sha256 "$copied" 8192 100001)"
cmp --ignore-initial 108193 "$source" "$copied" || fail "behind the zeroes something changed"
cmp --bytes 4097 "$source" "$copied" || fail "before the pattern something changed"
"$rdmablk" zero "$(uri file)" --discard --quiet
expect_equal "disk of a discarded file" 0 "$(stat --format %b "$disk")"
if type -P hexdump >/dev/null; then
  "$rdmablk" hexdump "$(uri small)" | cmp - <(hexdump -C "$copied") || fail "hexdump prints something else"
  "$rdmablk" hexdump "$(uri small)" --offset 4090 --length 33 | cmp - <(hexdump -C -s 4090 -n 33 "$copied") ||
    fail "hexdump of a part prints something else"
fi

# For programs.
make_source 2M
expect_equal "copy as JSON" "2097152 2097152 true" \
  "$(expect_valid copy "$rdmablk" copy "$source" "$(uri file)" --json --verify 2>/dev/null |
    jq -r '"\(.size_bytes) \(.data_bytes + .zero_bytes) \(.verified)"')"
expect_equal "fill as JSON" "512 1024" \
  "$(expect_valid fill "$rdmablk" fill "$(uri small)" --pattern 00 --offset 512 --length 1K --json |
    jq -r '"\(.offset_bytes) \(.data_bytes)"')"
expect_equal "zero as JSON" "1048576 0" \
  "$(expect_valid fill "$rdmablk" zero "$(uri small)" --json | jq -r '"\(.zero_bytes) \(.data_bytes)"')"

# What cannot work changes nothing, and makes no file.
expect_fail $failed "2097152 bytes, and there is room for 1048576; nothing was written" \
  "$rdmablk" copy "$source" "$(uri small)"
expect_fail $failed "/nonexistent" "$rdmablk" copy /nonexistent "$scratch/new"
expect_fail $failed "no export" "$rdmablk" copy "$(uri none)" "$scratch/new"
expect_fail $failed "read-only|readonly|writ" "$rdmablk" copy "$scratch/source" "$(uri rom)"
expect_fail $failed "a directory" "$rdmablk" copy "$(uri memory)" "$scratch"
expect_fail $failed "they are the same" "$rdmablk" copy "$source" "$scratch/../${scratch##*/}/source"
expect_fail $usage "both" "$rdmablk" copy "$source" "$source"
expect_fail $usage "verify" "$rdmablk" copy - "$(uri memory)" --verify
expect_fail $usage "json" "$rdmablk" copy "$(uri memory)" - --json
expect_fail $usage "no export" "$rdmablk" copy rdmablk://host "$scratch/new"
expect_fail $usage "block-size" "$rdmablk" copy "$(uri memory)" "$scratch/new" --block-size 1
expect_fail $usage "hexadecimal" "$rdmablk" fill "$(uri small)" --pattern zz
expect_fail $usage "what to fill" "$rdmablk" fill "$(uri small)"
expect_fail $usage "lies outside" "$rdmablk" zero "$(uri small)" --offset 1M
expect_fail $usage "does not fit" "$rdmablk" hexdump "$(uri small)" --length 2M
[[ ! -e $scratch/new ]] || fail "a copy that could not begin left a file"

# No room on the disk.
if mkdir "$scratch/full" && mount -t tmpfs -o size=1M none "$scratch/full" 2>/dev/null; then
  "$rdmablk" fill "$(uri memory)" --random --quiet
  expect_fail $failed "No space left.*$scratch/full/image is incomplete" "$rdmablk" copy "$(uri memory)" "$scratch/full/image"
fi

# copy_from_feed ARGUMENT...: a copy of what is written to descriptor 9, in the background. It is under way
# when this returns: a pipe holds 1 MiB at most.
copy_from_feed() {
  head --bytes 2M /dev/urandom >"$source"
  rm -f "$scratch/feed"
  mkfifo "$scratch/feed"
  exec 9<>"$scratch/feed"
  "$rdmablk" copy - "$(uri memory)" "$@" <"$scratch/feed" 2>"$scratch/complaint" 9>&- &
  test_pids+=($!)
  cat "$source" >&9
}

# expect_incomplete PID PATTERN: the copy from the feed ends, and says why.
expect_incomplete() {
  local status=0
  wait "$1" || status=$?
  exec 9>&-
  expect_equal "exit status of a copy that ended early" $failed "$status"
  expect_match "what it says" "$2; $(uri memory) is incomplete" "$(<"$scratch/complaint")"
}

# Stopped by the user, while nobody writes to the pipe.
copy_from_feed
pid=${test_pids[-1]}
kill -INT "$pid"
expect_incomplete "$pid" "interrupted after [0-9]+ bytes"

# The target dies in the middle.
copy_from_feed --reconnect-delay 0.1 --give-up 0.5
pid=${test_pids[-1]}
kill_target
run_in_background cat "$source" >&9
expect_incomplete "$pid" "cannot write [0-9]+ bytes at offset [0-9]+ of $(uri memory): .*the target is away.*"
