#!/bin/bash
# A real Prometheus reads a target and a mount, and knows every metric that the dashboard's panels ask for.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/watch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/watch_lib.sh"

dashboard=$(dirname "${BASH_SOURCE[0]}")/../../docs/grafana/rdmablk.json
prometheus=

# start_prometheus TARGET...: reads these every second; $prometheus is its address.
start_prometheus() {
  local attempt log=$scratch/prometheus.log
  printf 'global: {scrape_interval: 1s}\nscrape_configs: [{job_name: rdmablk, static_configs: [{targets: [%s]}]}]\n' \
    "$(printf '"%s",' "$@")" >"$scratch/prometheus.yml"
  for ((attempt = 0; attempt < 20; ++attempt)); do
    prometheus=127.0.0.1:$((20000 + RANDOM % 10000))
    run_in_background prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/prometheus" \
      --web.listen-address="$prometheus" &>"$log"
    wait_until "Prometheus starts" prometheus_is_ready_or_ended "$!" "$log"
    ! is_running "$!" || return 0
    grep --quiet 'address already in use' "$log" || fail "Prometheus: $(tail -n 3 "$log")"
  done
  fail "no port is free for Prometheus"
}

prometheus_is_ready_or_ended() { grep --quiet 'Server is ready to receive web requests' "$2" || ! is_running "$1"; }

# query EXPRESSION: the values that Prometheus finds.
query() { promtool query instant "http://$prometheus" "$1" | sed 's/.*=> \(.*\) @.*/\1/'; }

finds() { [[ $(query "$1") == "$2" ]]; }

type -P prometheus promtool >/dev/null || skip "it takes Prometheus"
start_remote
start_target --metrics 0 --keepalive 1 --export disk=memory:16M --export "file=file:$scratch/file.img,size=16M"
watched=$(metrics_address "$target_log")
touch "$scratch/disk"
mount_image_logging "$scratch/disk.log" --metrics 0 "$(uri disk)" "$scratch/disk"
mount=$(metrics_address "$scratch/disk.log")
dd if=/dev/zero of="$scratch/disk" bs=4k count=5 oflag=direct conv=notrunc status=none

start_prometheus "$watched" "$mount"
wait_until "Prometheus has read both" finds 'sum(up)' 2
wait_until "it knows what was written" finds 'rdmablk_mount_bytes_total{operation="write"}' 20480
wait_until "it knows what was reported" finds 'sum(rdmablk_client_reported_bytes_total{operation="write"})' 20480
expect_equal "histogram" 5 "$(query 'rdmablk_mount_request_duration_seconds_bucket{operation="write",le="+Inf"}')"

known=$(page "$watched" /metrics && page "$mount" /metrics)
names=$(jq -r '.panels[].targets[]?.expr' "$dashboard" | grep -o 'rdmablk_[a-z_]*' | sort -u)
(($(wc -l <<<"$names") > 25)) || fail "the dashboard has next to no metrics: $names"
for name in $names; do
  grep --quiet "^${name}[{ ]" <<<"$known" || fail "a panel asks for $name, which nobody has"
done
# Each panel's question is one that Prometheus understands.
while IFS= read -r expression; do
  promtool query instant "http://$prometheus" "$expression" >/dev/null || fail "Prometheus does not understand: $expression"
done < <(jq -r '.panels[].targets[]?.expr' "$dashboard" | sed 's/\$__rate_interval/1m/g; s/\$[a-z]*/.*/g')

unmount_image "$scratch/disk"
stop_target
