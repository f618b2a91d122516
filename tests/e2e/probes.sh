#!/bin/bash
# The programs have the probes that common/probes.h documents, with as many arguments; and bpftrace can use them where
# it is installed and the kernel lets it.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# probes PROGRAM: each probe's name and the number of its arguments.
probes() {
  readelf --notes "$1" | awk '
    $1 == "Provider:" { provider = $2 }
    $1 == "Name:" { name = $2 }
    $1 == "Arguments:" && provider == "rdmablk" { print name, NF - 1 }' | sort --unique
}

# try_bpftrace: traces a mount while it is used.
try_bpftrace() {
  local script pid
  script=$(dirname "${BASH_SOURCE[0]}")/../../scripts/rdmablk-latency.bt
  type -P bpftrace >/dev/null || return 0
  # It takes too much memory for small guests, and a kernel that has uprobes.
  timeout 20 bpftrace -e "usdt:$RDMABLK_BIN/rdmablk-fuse:rdmablk:reply { } BEGIN { exit(); }" >/dev/null 2>&1 || return 0
  touch "$scratch/image"
  mount_image --null 16M "$scratch/image"
  pid=$(daemon_of "$scratch/image")
  bpftrace -p "$pid" "$script" >"$scratch/trace" 2>&1 &
  test_pids+=($!)
  wait_until "bpftrace traces" grep --quiet "Tracing" "$scratch/trace"
  dd if="$scratch/image" of=/dev/null bs=4k count=100 iflag=direct status=none
  kill -INT "${test_pids[-1]}"
  wait "${test_pids[-1]}" || fail "bpftrace: $(cat "$scratch/trace")"
  grep --quiet '@read_us' "$scratch/trace" || fail "it traced no read: $(cat "$scratch/trace")"
  unmount_image "$scratch/image"
}

start
echo '#include <sys/sdt.h>' | cpp -o "$scratch/includes" 2>/dev/null || skip "built without <sys/sdt.h>"
expect_equal "probes of rdmablk-fuse" $'complete 6\npost 4\nreply 6\nsubmit 5' "$(probes "$RDMABLK_BIN/rdmablk-fuse")"
expect_equal "probes of rdmablk" "post 4" "$(probes "$RDMABLK_BIN/rdmablk")"
try_bpftrace
