#!/bin/bash
# Whatever cannot work says so in one line, with the right exit status, and leaves nothing behind.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

readonly failed=1 usage=2
image=$scratch/image
touch "$image"
mkdir --parents "$scratch/full/inside"
tgt=("$RDMABLK_BIN/rdmablk-target" --insecure --listen "$address:0")

# Exports.
for size in 0 -4096 many 1000 1.5M '' 99999999999999999999; do
  expect_fail $usage "'$size'|size" "${tgt[@]}" --export "disk=memory:$size"
done
expect_fail $failed "memory" "${tgt[@]}" --export disk=memory:64T
expect_fail $usage "disk" "${tgt[@]}" --export disk=memory:1M --export disk=memory:2M
expect_fail $usage "-disk" "${tgt[@]}" --export=-disk=memory:1M
expect_fail $usage "tape" "${tgt[@]}" --export disk=tape:1M
expect_fail $usage "colour" "${tgt[@]}" --export disk=memory:1M,colour=red
expect_fail $failed "hugepages|huge pages of 1 GiB" "${tgt[@]}" --export disk=memory:1G,huge=1G

# Where to listen.
expect_fail $usage "--listen: its value is empty" "$RDMABLK_BIN/rdmablk-target" --insecure --listen "" --export disk=memory:1M
expect_fail $usage "--auth FILE is missing.*--insecure.*insecure = true" "$RDMABLK_BIN/rdmablk-target" --export disk=memory:1M
expect_fail $failed "nosuch0.*there (is|are)" "${tgt[@]}" --export disk=memory:1M --device nosuch0
expect_fail $failed "192.0.2.1" "$RDMABLK_BIN/rdmablk-target" --insecure --listen 192.0.2.1 --export disk=memory:1M
start_target --export disk=memory:1M --export spare=memory:1M,readonly
expect_fail $failed "${target#*:}.*in use" "$RDMABLK_BIN/rdmablk-target" --log-level error --insecure --listen "$target" \
  --export "disk=file:$scratch/new.img,size=1M"
[[ ! -e $scratch/new.img ]] || fail "a target that could not start left the file that it had made"

# Who has given up while the target was stopped is no fault of the target.
kill -STOP "$target_pid"
for _ in 1 2 3; do expect_fail $failed "in time|longer than" "$rdmablk" list "$target" --timeout 0.5; done
kill -CONT "$target_pid"
expect_match "afterwards" "disk" "$("$rdmablk" list "$target")"
expect_equal "errors of the target" "" "$(grep ' error: ' "$target_log" || true)"
expect_match "what it says of them" "gave up, or went away, before its request to connect was answered|ended: " "$(cat "$target_log")"

# What to attach.
for command in info "bench --time 1 --rw read" mount; do
  # shellcheck disable=SC2086 # words of a command
  set -- $command
  [[ $1 != mount ]] || path=$image
  for bad in disk rdmablk:// "rdmablk://$target" "rdmablk://$target/" "rdmablk://$target/.hidden" \
    "rdmablk://$address:0/disk" "rdmablk://$address:99999/disk" "http://$target/disk"; do
    expect_fail $usage "rdmablk://|port|name" "$rdmablk" "$1" "$bad" ${path:+"$path"} "${@:2}"
  done
  expect_fail $failed "tape.*disk, spare" "$rdmablk" "$1" "$(uri tape)" ${path:+"$path"} "${@:2}"
done
expect_fail $failed "read-only: attach it for reading" "$rdmablk" bench "$(uri spare)" --rw write --time 1

# Targets that are not there: nobody listens; no such host; an address that never answers.
expect_fail $failed "nothing listens|rdmablk-target" "$rdmablk" list "$address:1"
expect_fail $failed "no.such.host.invalid" "$rdmablk" list no.such.host.invalid
SECONDS=0
expect_fail $failed "192.0.2.1" "$rdmablk" list 192.0.2.1
((SECONDS <= 6)) || fail "it took $SECONDS s to find that nobody answers"

# What the help lists is what there is.
for option in $("$RDMABLK_BIN/rdmablk-fuse" --null 1M "$image" -o nosuch 2>&1 | grep --only-matching '[a-z_]*='); do
  for program in "$rdmablk mount" "$RDMABLK_BIN/rdmablk-fuse"; do
    grep --quiet --fixed-strings "$option" < <($program --help) || fail "$program --help lacks $option"
  done
done

# Where to mount.
expect_fail $failed "missing" "$rdmablk" mount "$(uri disk)" "$scratch/missing"
expect_fail $failed "not empty" "$rdmablk" mount "$(uri disk)" "$scratch/full"
mount_export disk "$image"
expect_fail $failed "mounted" "$rdmablk" mount "$(uri disk)" "$image"
unmount_export "$image"
expect_fail $failed "image" "$rdmablk" unmount "$image"
expect_equal "processes left" "" "$(daemons)"
expect_equal "mounts left" "" "$(mounts_of '')"
stop_target
