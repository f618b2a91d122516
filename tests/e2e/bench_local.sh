#!/bin/bash
# scripts/bench: what it writes is whole and asks for nothing elsewhere, it refuses what it does not
# know, and it leaves nothing behind.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start
[[ -r /usr/share/javascript/chart.js/chart.min.js ]] || skip "libjs-chart.js is not installed"

bench=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scripts/bench")
export TMPDIR="$scratch/t m:p%&@" # names that fio, URIs and shells take for something else
mkdir "$TMPDIR"
touch "$scratch/precious"

nothing_left() { expect_equal "what $1 left" '' "$(ls -A "$TMPDIR")$(daemons)"; }

expect_fail 2 "unknown argument '--fast'" "$bench" --fast
expect_fail 2 "--rounds is '0'" "$bench" --rounds 0
expect_fail 2 "--rounds needs a value" "$bench" --rounds
expect_fail 2 "--time is '1.5'" "$bench" --time 1.5
expect_fail 2 "--size is '12X'" "$bench" --size 12X
expect_fail 2 "--size is '1'" "$bench" --size 1
expect_fail 2 "--subjects has 'nfs'" "$bench" --subjects null,nfs
expect_fail 2 "nothing of that" "$bench" --file --subjects null
expect_fail 2 "no regular expression" "$bench" --workloads '('
expect_fail 2 "nothing is called so" "$bench" --workloads trim
expect_fail 2 "--size is '99999999999999999999G'" "$bench" --size 99999999999999999999G
expect_fail 2 "names with commas" "$bench" --subjects 'null, plain'
expect_fail 2 "names with commas" "$bench" --subjects '*'
expect_fail 2 "no file can be made" "$bench" --json "$scratch/missing/file"
expect_fail 2 "no file can be made" "$bench" --file "$scratch/missing/file"
expect_fail 2 "--json needs a value" "$bench" --json --memory
expect_fail 2 "nothing is called so" "$bench" --vm --only nosuch
expect_fail 2 "without comma" env TMPDIR="$TMPDIR,x" "$bench" --memory
for script in run registration.sh; do
  expect_fail 2 "no file can be made" "${bench%/scripts/bench}/tests/scale/$script" --json "$scratch/missing/file"
  expect_fail 2 "--json needs a value" "${bench%/scripts/bench}/tests/scale/$script" --json --check
done
expect_fail 2 "would be destroyed" "$bench" --file "$scratch/precious"
nothing_left "a refusal"

"$bench" --memory --subjects null,rdmablk --rounds 1 --time 1 --size 64M --json "$scratch/json" \
  --html "$scratch/html" --markdown "$scratch/markdown" --svg "$scratch/svg" >"$scratch/table" 2>"$scratch/log" ||
  fail "scripts/bench: $(cat "$scratch/log")"
nothing_left "a measurement"

# Seven workloads of two subjects, with figures in all of them.
whole='(.results | length) == 14 and ([.results[].workload] | unique | length) == 7
  and all(.results[]; .metrics.iops.median > 0 and .metrics.bandwidth_bytes_per_second.median > 0)
  and all(.results[] | select(.workload != "randrw-4k-32"); .metrics.latency_p99_ns.median > 0)
  and all(.results[] | select(.workload == "randrw-4k-32");
          .metrics.latency_read_p99_ns.median > 0 and .metrics.latency_write_p99_ns.median > 0)
  and all(.results[] | select(.subject == "rdmablk"); .ratios.null.median > 0
          and (.cpu_percent | has("target") and .mount.median > 0))
  and (.aims | length) == 5 and all(.aims[]; has("met"))'
jq --exit-status "$whole" "$scratch/json" >/dev/null || fail "the JSON is not whole: $(cat "$scratch/json")"

# The page holds the same, and refers to nothing.
page_data=$(sed -n '/<script type="application\/json" id="data">/{n;p}' "$scratch/html")
expect_equal "the data of the page" "$(jq --sort-keys . "$scratch/json")" "$(jq --sort-keys . <<<"$page_data")"
expect_match "the page" 'Chart.js v[0-9.]+' "$(cat "$scratch/html")"
for pattern in '@[A-Z_]*@$' '\b(src|href)=' '@import' 'url\(' '\bfetch\(' XMLHttpRequest; do
  ! grep --extended-regexp --quiet -- "$pattern" "$scratch/html" || fail "the page has '$pattern'"
done
for workload in '4 KiB random read, depth 1' '4 KiB random write, depth 32' '1 MiB sequential write, depth 4' \
  '4 KiB 70/30 mix, depth 32: writes'; do
  for output in table html markdown; do
    grep --quiet --fixed-strings "$workload" "$scratch/$output" || fail "the $output lacks '$workload'"
  done
done
expect_equal "lines of more than 100 columns" '' "$(grep -E '^.{101}' "$scratch/table" || true)"
expect_match "the end of the drawing" '</svg>$' "$(cat "$scratch/svg")"

# A subject that cannot start is an error that says so, and leaves nothing.
mkdir "$scratch/bin"
ln -s "$RDMABLK_BIN"/rdmablk "$RDMABLK_BIN"/rdmablk-target "$scratch/bin"
printf '#!/bin/sh\necho broken by the test >&2\nexit 1\n' >"$scratch/bin/rdmablk-fuse"
chmod +x "$scratch/bin/rdmablk-fuse"
expect_error "null ended at its start.*broken by the test" env RDMABLK_BIN="$scratch/bin" "$bench" --memory --subjects null \
  --json "$scratch/json" --html "$scratch/html"
nothing_left "a failure"

# Neither does one that is stopped while it measures.
"$bench" --memory --subjects null,rdmablk --rounds 1 --time 1 --size 64M \
  --json "$scratch/json" --html "$scratch/html" >/dev/null 2>"$scratch/log" &
test_pids+=($!)
wait_until "it measures" grep --quiet 'round 1' "$scratch/log"
kill -TERM "${test_pids[-1]}"
status=0
wait "${test_pids[-1]}" || status=$?
expect_equal "exit status of one that was stopped" 143 "$status"
nothing_left "one that was stopped"
