#!/bin/bash
# rdmablk info and list on exports of files: what they are, what they can, where their holes are.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote
file=$scratch/holes.img
truncate --size 16M "$file"
dd if=/dev/urandom of="$file" bs=64K seek=16 count=2 conv=notrunc,fsync status=none
truncate --size 1M "$scratch/rom.img"
start_target --export "holes=file:$file,direct=off" --export "rom=file:$scratch/rom.img,readonly,direct=off" \
  --export "resident=file:$scratch/resident.img,size=1M,direct=off,resident" --export memory=memory:1M

# value EXPORT KEY: of info --json.
value() { "$rdmablk" info --json "$(uri "$1")" | jq --raw-output ".$2"; }

# expect_can EXPORT WHAT...: of everything that may be asked, this and no more.
expect_can() {
  local export=$1 what status found=''
  shift
  for what in read write flush fua zero discard map direct; do
    status=0
    "$rdmablk" info --can "$what" "$(uri "$export")" || status=$?
    case $status in
      0) found+=" $what" ;;
      3) ;;
      *) fail "info --can $what of $export ended with status $status" ;;
    esac
  done
  expect_equal "what $export can" "$*" "${found# }"
}

expect_match "list" $'holes +file +16 MiB' "$("$rdmablk" list "$target")"
expect_equal "a file export" "file 16777216 holes.img false true" \
  "$(value holes '| "\(.type) \(.size_bytes) \(.file) \(.direct) \(.needs_flush)"')"
expect_match "info" $'file +holes.img\n.*buffered' "$("$rdmablk" info "$(uri holes)")"
expect_equal "a resident export" "resident resident.img" "$(value resident '| "\(.type) \(.file)"')"
expect_equal "a memory export" "memory null" "$(value memory '| "\(.type) \(.file)"')"
expect_can holes read write flush fua zero discard map
expect_can rom read map
expect_can memory read write
for answer in "holes true 0" "rom false 3"; do
  read -r export yes expected <<<"$answer"
  status=0
  json=$("$rdmablk" info --can write --json "$(uri "$export")") || status=$?
  expect_equal "--can --json of $export" "$(uri "$export") write $yes $expected" \
    "$(jq --raw-output '"\(.uri) \(.can) \(.answer)"' <<<"$json") $status"
done
expect_equal "--size --json" 16777216 "$("$rdmablk" info --size --json "$(uri holes)" | jq .size_bytes)"
expect_fail 2 "given 2 times" "$rdmablk" info "$(uri holes)" --can read --can write

expect_equal "map" "0:1048576:hole 1048576:131072:data 1179648:15597568:hole" \
  "$("$rdmablk" info --map --json "$(uri holes)" |
    jq --raw-output '[.extents[] | "\(.offset_bytes):\(.length_bytes):\(.type)"] | join(" ")')"
expect_equal "map of a part" $' OFFSET  LENGTH  TYPE\n1052672   65536  data' \
  "$("$rdmablk" info --map --offset 1028K --length 64K "$(uri holes)")"
expect_equal "map of a resident export" $'OFFSET   LENGTH  TYPE\n     0  1048576  data' \
  "$("$rdmablk" info --map "$(uri resident)")"
stop_target

# To look takes next to nothing of the target's memory for slots, which a mount has nearly all of.
expect_fail 2 "slot-memory is 32 KiB.*takes [0-9]+" "$RDMABLK_BIN/rdmablk-target" --insecure --listen "$address:0" \
  --export "holes=file:$file" --slot-memory 32K
start_target --export "holes=file:$file,direct=off" --slot-memory 4500K --client-slot-memory 4500K
touch "$scratch/image"
mount_export holes "$scratch/image" -o workers=1
expect_equal "info with little memory for slots" 16777216 "$("$rdmablk" info --size "$(uri holes)")"
expect_match "map with little memory for slots" '1048576 +131072 +data' "$("$rdmablk" info --map "$(uri holes)")"
unmount_export "$scratch/image"
stop_target
