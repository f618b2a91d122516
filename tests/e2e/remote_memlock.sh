#!/bin/bash
# The limit of locked memory: too low for an export it is an error that says how much is needed, and too
# low for the buffers of a mount or a copy it makes them fewer.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

image=$scratch/image
touch "$image"

# limited KIB COMMAND...: without the right to exceed the limit.
limited() {
  local kib=$1
  shift
  (ulimit -l "$kib" && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$@")
}

# Each export is registered twice: for those who write and for those who read. With what the error asks
# for it works.
command=("$RDMABLK_BIN/rdmablk-target" --insecure --listen "$address:0" --export disk=memory:2M)
expect_fail 1 "ulimit -l [0-9]+.*LimitMEMLOCK" limited 3072 "${command[@]}"
needed=$( { limited 3072 "${command[@]}" 2>&1 || true; } | sed -n "s/.*ulimit -l \([0-9]*\).*/\1/p")
((needed >= 4096)) || fail "$needed KiB are too few for two registrations"
run_with=(prlimit --memlock=$((needed * 1024)) setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock)
start_target --export disk=memory:2M
stop_target
run_with=()

start_target --export disk=memory:2M
expect_fail 1 "ulimit -l.*LimitMEMLOCK" limited 512 "$rdmablk" mount "$(uri disk)" "$image"
limited 8192 "$rdmablk" mount "$(uri disk)" "$image" --quiet 2>"$scratch/warning" ||
  fail "mounting with few buffers: $(cat "$scratch/warning")"
expect_match "the warning" "ulimit -l" "$(cat "$scratch/warning")"
verify_with_fio "$image" 2M --ioengine=libaio --iodepth=32 --rw=randwrite --bsrange=512-1M
unmount_export "$image"

# Moving data makes do with less, too, and says so once.
head --bytes=2M /dev/urandom >"$scratch/data"
limited 8192 "$rdmablk" copy "$scratch/data" "$(uri disk)" --verify --quiet 2>"$scratch/warning" ||
  fail "copying with few buffers: $(cat "$scratch/warning")"
expect_match "the warning" "limit of locked memory is 8 MiB: buffers shrink.*ulimit -l" "$(cat "$scratch/warning")"
expect_equal "lines of the warning" 1 "$(wc --lines <"$scratch/warning")"
limited 3072 "$rdmablk" copy "$(uri disk)" "$scratch/copy" --quiet 2>/dev/null || fail "copying with fewer buffers"
expect_equal "what was copied" "$(sha256 "$scratch/data")" "$(sha256 "$scratch/copy")"
limited 8192 "$rdmablk" fill "$(uri disk)" --pattern 61 --quiet 2>/dev/null || fail "filling with few buffers"
limited 8192 "$rdmablk" zero "$(uri disk)" --quiet 2>/dev/null || fail "zeroing with few buffers"
expect_fail 1 "ulimit -l [0-9]+.*LimitMEMLOCK" limited 1024 "$rdmablk" copy "$(uri disk)" "$scratch/copy"
stop_target
