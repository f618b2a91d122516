# The head of a result of scripts/bench: who measured what, and where (README-bench.md).
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by the other parts

# head_of_machine TITLE: the part that every measurement has.
head_of_machine() {
  local commit
  commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
  [[ -z $(git status --porcelain --untracked-files=no 2>/dev/null) ]] || commit+=", changed"
  jq --null-input --arg title "$1" --arg date "$(date --utc +%FT%TZ)" --arg commit "$commit" \
    --arg kernel "$(uname -sr)" --argjson cores "$(nproc)" --argjson load "${load:-null}" \
    --arg processor "$(sed -n 's/^model name[^:]*: //p;T;q' /proc/cpuinfo)" \
    --argjson memory "$(awk '/^MemTotal:/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)" \
    --argjson rounds "$rounds" --argjson seconds "$seconds" --arg command "$command_line" \
    '{title: $title, date: $date, commit: $commit, kernel: $kernel, processor: $processor, cores: $cores,
      memory_bytes: $memory, load_before: $load, rounds: $rounds, time_seconds: $seconds, command: $command}'
}

# versions: an object of the programs that took part.
versions() {
  {
    echo "rdmablk|$(first_line "$bin/rdmablk" --version)"
    echo "fio|$(fio --version)"
    ! wants nbdkit || echo "nbdkit|$(nbdkit --version)"
    ! wants nbdkit || echo "nbdfuse|$(first_line nbdfuse --version)"
    ! wants qsd || echo "qsd|$(first_line qemu-storage-daemon --version)"
  } | jq --raw-input --slurp 'split("\n") | map(select(. != "") | split("|") | {(.[0]): .[1]}) | add'
}

# workloads_json: those that are measured, as the head has them.
workloads_json() {
  local workload id name shows
  for workload in "${workloads[@]}"; do
    IFS='|' read -r id name _ _ _ shows <<<"$workload"
    jq --null-input --arg id "$id" --arg name "$name" --arg shows "$shows" '$ARGS.named'
  done | jq --slurp .
}

# local_head: of what is measured on this machine.
local_head() {
  head_of_machine "rdmablk and its peers on one machine" |
    jq -L scripts/lib --argjson workloads "$(workloads_json)" --argjson versions "$(versions)" \
      --arg device "$device" --arg device_is "$device_is" --argjson size "$(size_bytes)" \
      --arg file_system "$file_system" --arg export_options "$export_options" --arg groups "${groups[*]}" \
      'include "bench_local"; head'
}
