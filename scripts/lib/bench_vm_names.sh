# What scripts/bench --vm can measure, by the names in bench_vm.json.
# shellcheck shell=bash
# shellcheck disable=SC2154 # only: of the caller

# measurable GROUP SUBJECT WORKLOAD: whether that tool has that workload.
measurable() {
  case $2/$3 in
    perftest-sleep/readlat-*) true ;;
    perftest-sleep/*) false ;;
    perftest-list/*lat-* | perftest-list/*-1) false ;;
    *) true ;;
  esac
}

# ids PATH-OF-JQ: of bench_vm.json, one a line.
ids() { jq --raw-output "$1" "$(dirname "${BASH_SOURCE[0]}")/bench_vm.json"; }

# matches GROUP SUBJECT WORKLOAD: --only, and it can be measured.
matches() { [[ "$1/$2/$3" =~ $only ]] && measurable "$@"; }

# any_matches: whether there is something that does.
any_matches() {
  local group subject workload
  while read -r group subject workload; do
    ! matches "$group" "$subject" "$workload" || return 0
  done < <(ids '.groups[] | .id as $group | .workloads[].id as $workload | .subjects[] | "\($group) \(.id) \($workload)"')
  return 1
}
