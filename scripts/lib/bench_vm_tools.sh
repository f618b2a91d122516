# Runs a tool once, and makes the metrics of scripts/lib/README-bench.md of what it prints: an object, on standard
# output. Each fails when its tool does; the tool's own words are then in $workspace/tool.log.
# shellcheck shell=bash
# shellcheck disable=SC2154 # address, bin, device, seconds, workspace: of the caller

readonly client_time=$workspace/client.time server_time=$workspace/server.time

# run_rdmablk RW BLOCK DEPTH
run_rdmablk() {
  timed "$client_time" "$bin/rdmablk" bench "$(target_uri "$export_name")" --rw "$1" --bs "$2" --depth "$3" \
    --time "$seconds" --json >"$workspace/tool.log" || return
  jq --compact-output '.read // .write | {iops, bandwidth_bytes_per_second, latency_mean_ns, latency_p50_ns,
    latency_p99_ns}' "$workspace/tool.log"
}

# run_fio FILE RW BLOCK DEPTH: with one processor much of a request is done while it is submitted, so latencies
# are those from the submission on (lat, not clat).
run_fio() {
  timed "$client_time" fio --name=bench --filename="$1" --ioengine=libaio --direct=1 --rw="$2" --bs="$3" \
    --iodepth="$4" --runtime="$seconds" --time_based --randrepeat=0 --norandommap --thread \
    --clat_percentiles=0 --lat_percentiles=1 --output-format=json --output="$workspace/tool.log" || return
  jq --compact-output --exit-status '.jobs[0] | select(.error == 0)
    | (if .read.total_ios > 0 then .read else .write end)
    | {iops, bandwidth_bytes_per_second: .bw_bytes, latency_mean_ns: .lat_ns.mean,
       latency_p50_ns: .lat_ns.percentile."50.000000", latency_p99_ns: .lat_ns.percentile."99.000000"}' \
    "$workspace/tool.log"
}

# run_perftest_pair TOOL OPTION...: a server and its client.
run_perftest_pair() {
  local tool=$1 server status=0
  local -a command=(timeout --kill-after=1 $((seconds + 8)) "$tool" --ib-dev="$device" --CPU-freq "${@:2}")
  case $device in # soft-RoCE's GID 1 is the IPv4 address; soft-iWARP has connections of rdma_cm only
    siw*) command+=(--rdma_cm) ;;
    *) command+=(--gid-index=1) ;;
  esac
  timed "$server_time" "${command[@]}" >"$workspace/server.log" 2>&1 &
  server=$!
  await_perftest_server "$server" &&
    timed "$client_time" "${command[@]}" "$address" >"$workspace/tool.log" 2>&1 || status=$?
  wait "$server" || status=$?
  return "$status"
}

# await_perftest_server PROCESS: it listens on perftest's port, 18515.
await_perftest_server() {
  local attempts=200
  until [[ -n $(ss --listening --tcp --numeric --no-header 'sport = 18515') ]]; do
    [[ $device != siw* ]] || { sleep 0.5 && return; } # rdma_cm's ports are not listed
    kill -0 "$1" 2>/dev/null && ((attempts-- > 0)) || return 1
    sleep 0.02
  done
}

# perftest_bandwidth KIND BLOCK DEPTH [OPTION...]: ib_read_bw or ib_write_bw.
perftest_bandwidth() {
  local -a outstanding=()
  [[ $1 != read ]] || outstanding=(--outs="$3")
  run_perftest_pair "ib_$1_bw" --size="$(bytes_of "$2")" --tx-depth="$3" "${outstanding[@]}" \
    --duration="$seconds" --margin=0 "${@:4}" || return
  # The rate has too few digits for large blocks. What it calls MB is a MiB.
  perftest_figures | awk '{ if ($4 + 0 <= 0) exit 1
    printf "{\"iops\": %.1f, \"bandwidth_bytes_per_second\": %.0f}\n", $4 * 1048576 / $1, $4 * 1048576 }'
}

# perftest_latency KIND BLOCK [OPTION...]: ib_read_lat or ib_write_lat. They count cycles, and with both ends
# on one processor perftest fails to find out how long a cycle takes ("inf"): the kernel's figure is taken.
perftest_latency() {
  run_perftest_pair "ib_$1_lat" --size="$(bytes_of "$2")" --iters=$((seconds * 2000)) --report-cycles \
    "${@:3}" || return
  perftest_figures | awk -v mhz="$(sed -n 's/^cpu MHz.*: //p;T;q' /proc/cpuinfo)" '
    function ns(cycles) { return cycles * 1000 / mhz }
    { if (!(mhz > 0 && $5 + 0 > 0)) exit 1
      printf "{\"latency_mean_ns\": %.0f, \"latency_p50_ns\": %.0f, \"latency_p99_ns\": %.0f}\n", ns($6), ns($5), ns($8) }'
}

# The line of figures below the line of names. The tool's --out_json makes no JSON that can be read.
perftest_figures() { awk 'found { print; exit } /^ #bytes/ { found = 1 }' "$workspace/tool.log"; }

bytes_of() { numfmt --from=iec "${1^^}"; }
