#!/bin/bash
# The guest's part of scripts/bench --vm: what it writes, and what it says of peers that are not there. Runs inside a
# guest. How fast anything was is not looked at.
#
# Environment:
#   RDMABLK_BIN   the directory of the programs under test
set -euo pipefail

# shellcheck source=tests/vm/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
guest_part=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib" && pwd)/bench_vm_guest
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# measure REGEX: one short round of what matches; sets said.
measure() { said=$("$guest_part" --rounds 1 --time 1 --only "$1" "$out" 2>&1) || fail "bench_vm_guest failed: $said"; }

# of_runs EXPRESSION
of_runs() { jq --slurp --raw-output "$1" "$out/runs"; }

measure 'verbs/(rdmablk|perftest)/(readlat|writelat)-4k-1|block/(rdmablk|nvme-tcp|rnbd)/randread-4k-1$'
expected='verbs/perftest/readlat-4k-1 verbs/perftest/writelat-4k-1 verbs/rdmablk/readlat-4k-1 verbs/rdmablk/writelat-4k-1'
for run in $expected block/rdmablk/randread-4k-1; do
  # ib_write_lat gives no figure when its two ends do not let one another run.
  [[ $run != verbs/perftest/writelat* || $said != *"perftest gave no figure for writelat-4k-1"* ]] || continue
  expect_equal "runs of $run" 1 "$(of_runs "map(select(\"\(.group)/\(.subject)/\(.workload)\" == \"$run\")) | length")"
done
expect_equal "rounds" 1 "$(of_runs 'map(.round) | unique | join(" ")')"
expect_equal "runs without a latency between 1 us and 1 s" '' \
  "$(of_runs '.[] | select(.metrics.latency_p50_ns // 0 | . < 1e3 or . > 1e9) | "\(.subject)/\(.workload)"')"
expect_equal "runs that lack the CPU time of client or kernel" '' \
  "$(of_runs '.[] | select(.cpu_percent | has("client") and has("kernel") | not) | .subject')"
expect_equal "the bases that were measured" "rdmablk rdmablk" "$(jq --raw-output '[.groups[].base] | join(" ")' "$out/measured")"

# Both peers are there, or it is said why not.
for peer in nvme-tcp rnbd; do
  [[ $said != *"$peer is left out: "* ]] || continue
  expect_equal "runs of $peer" 1 "$(of_runs "map(select(.subject == \"$peer\")) | length")"
done

rm /dev/ram0 # as with a kernel that has none
measure 'block/(rdmablk|rnbd)/randread-4k-1$'
expect_match "what is said of a peer that is not there" "rnbd is left out: this kernel has no RAM disk" "$said"
expect_equal "subjects" rdmablk "$(of_runs 'map(.subject) | join(" ")')"

if said=$("$guest_part" --rounds 1 --time 1 --only nothing/at/all "$out" 2>&1); then fail "nothing was measured, without a failure"; fi
expect_match "what is said when nothing matches" "nothing is left to measure.*nothing/at/all" "$said"
