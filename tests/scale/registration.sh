#!/bin/bash
# Measures how long a target takes to make the memory of a large export and to register it, with one thread
# and with as many as there are processors, with the usual pages and with huge ones.
#
# Usage: tests/scale/registration.sh [OPTION...]
#
#   --sizes LIST   of the export (default 1G,4G,16G); those that memory does not hold are left out
#   --pages LIST   usual, huge (2 MiB) or both (the default)
#   --rounds N     how often (default 5); a round measures everything once, every other one with many threads
#                  first
#   --json FILE    write all figures there
#   --check        one round; look at whether all memory is there, not at speed: no table
#   --help         this text
#
# For huge pages the pool is enlarged (which takes root) for the moment, and what it was afterwards. One
# thread means one processor: taskset(1). What cannot be measured is left out, and said. docs/performance.md
# says how to read the table.
#
# Environment:
#   RDMABLK_BIN           the directory of the built programs (default build/bin)
#   RDMABLK_BUILD_DIR     the build directory with the software device (default build)
#   RDMABLK_TEST_ADDRESS  where the target listens, over whatever device leads there: scripts/vm sets it; the
#                         software device, and 127.0.0.1, when there is none
#
# Exit status: 0 done, 1 failed, 2 wrong usage, 77 with --check when nothing could be measured.
set -euo pipefail
export LC_ALL=C

# shellcheck source=scripts/lib/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/common.sh"
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")

readonly huge_page=$((2 << 20))
readonly pool=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
readonly to_spare=$((512 << 20)) # bytes of memory that stay free
readonly nothing_measured=77

sizes=1G,4G,16G pages=usual,huge rounds=5 json='' check=no
own=() lists=() workspace='' target_pid='' log='' pool_before='' runner=()

parse_options() {
  while (($# > 0)); do
    case $1 in
      --sizes | --pages | --rounds)
        need_value "$@"
        printf -v "${1#--}" %s "$2"
        shift
        ;;
      --json)
        need_value "$@"
        json=$(output_file "$1" "$2")
        shift
        ;;
      --check) check=yes rounds=1 ;;
      --help) print_help && exit 0 ;;
      *) usage_error "unknown argument '$1'" ;;
    esac
    shift
  done
  [[ $sizes =~ ^[1-9][0-9]{0,4}[MGT](,[1-9][0-9]{0,4}[MGT])*$ ]] ||
    usage_error "--sizes takes sizes such as 512M,4G, not '$sizes'"
  [[ $pages =~ ^(usual|huge)(,(usual|huge))*$ ]] || usage_error "--pages takes usual, huge, not '$pages'"
  [[ $rounds =~ ^[1-9][0-9]{0,2}$ ]] || usage_error "--rounds takes a number, not '$rounds'"
}

finish() {
  local status=$?
  trap - EXIT
  trap '' HUP INT TERM
  stop_target KILL
  restore_pool || status=1
  [[ -z $workspace ]] || rm -rf --one-file-system "$workspace"
  exit "$status"
}

# stop_target SIGNAL: does nothing when there is none.
stop_target() {
  [[ -n $target_pid ]] || return 0
  kill -"$1" "$target_pid" 2>/dev/null || true
  wait "$target_pid" 2>/dev/null || true
  exec {log}<&-
  target_pid=''
}

# enlarge_pool BYTES: by as many pages as hold them. Fails when that cannot be.
enlarge_pool() {
  local want
  [[ -w $pool ]] || return 1
  pool_before=$(<"$pool")
  want=$((pool_before + ($1 + huge_page - 1) / huge_page))
  echo "$want" >"$pool" 2>/dev/null && (($(<"$pool") >= want))
}

# restore_pool: what enlarge_pool has done.
restore_pool() {
  local before=$pool_before
  [[ -n $before ]] || return 0
  pool_before=''
  if echo "$before" >"$pool" && [[ $(<"$pool") == "$before" ]]; then return 0; fi
  say "the pool of huge pages is not what it was: echo $before > $pool"
  return 1
}

# leave_out WHAT: says so, once.
leave_out() {
  grep --quiet --line-regexp --fixed-strings "$1" "$workspace/left_out" 2>/dev/null && return
  echo "$1" >>"$workspace/left_out"
  say "left out: $1"
}

# kib_of NAME FILE: a line of such files as /proc/meminfo.
kib_of() { awk -v name="$1:" '$1 == name { print $2 }' "$2"; }

# fits SIZE BYTES: into free memory.
fits() {
  local available
  available=$(kib_of MemAvailable /proc/meminfo)
  (($2 + to_spare <= available * 1024)) || {
    leave_out "$1, which does not fit into the memory that is free"
    return 1
  }
}

# start_target SIZE PAGES CPUS: sets `ready`, `made` and `registered`, in microseconds.
start_target() {
  local export=disk=memory:$1 line start text=''
  [[ $2 == usual ]] || export+=,huge=2M
  made='' registered='' ready=''
  start=${EPOCHREALTIME/./}
  exec {log}< <(exec taskset --cpu-list "$3" "${runner[@]}" "$bin/rdmablk-target" --insecure \
    --log-level debug --listen "${RDMABLK_TEST_ADDRESS:-127.0.0.1}:0" --state-dir "$workspace/state" \
    --export "$export" 2>&1)
  target_pid=$!
  while read -r line; do
    text+=$line$'\n'
    if [[ $line =~ "memory made in "([0-9]+)\.([0-9])" ms, registered in "([0-9]+)\.([0-9]) ]]; then
      made=${BASH_REMATCH[1]}${BASH_REMATCH[2]}00
      registered=${BASH_REMATCH[3]}${BASH_REMATCH[4]}00
    elif [[ $line == *'listening on '* ]]; then
      ready=$((${EPOCHREALTIME/./} - start))
      break
    fi
  done <&"$log"
  [[ -n $ready && -n $made ]] || die "the target ended: $text"
}

# check_target BYTES PAGES: all memory is there.
check_target() {
  local there name=RssShmem
  [[ $2 == usual ]] || name=HugetlbPages
  there=$(kib_of "$name" "/proc/$target_pid/status")
  ((there * 1024 >= $1)) || die "only $there KiB of the export's $1 bytes are there"
}

# run_once SIZE PAGES CPUS: and check that all memory is there.
run_once() {
  start_target "$@"
  check_target "$(numfmt --from=iec "$1")" "$2"
  stop_target TERM
}

# record SIZE PAGES CPUS: adds a line of JSON to $workspace/figures.
record() {
  jq --null-input --compact-output --arg size "$1" --arg pages "$2" --arg cpus "$3" \
    --argjson bytes "$(numfmt --from=iec "$1")" --argjson ready "$ready" --argjson made "$made" \
    --argjson registered "$registered" \
    --argjson round "$round" \
    '{round: $round, size: $size, size_bytes: $bytes, pages: $pages, processors: ($cpus | split(",") | length),
      ready_us: $ready, made_us: $made, registered_us: $registered}' >>"$workspace/figures"
}

# measure SIZE PAGES CPUS...: a run with each list of processors, in this order. One that does not count
# goes ahead: a hypervisor may have to give memory first that nobody has used for a while.
measure() {
  local bytes list size=$1 kind=$2
  shift 2
  bytes=$(numfmt --from=iec "$size")
  fits "$size" "$bytes" || return 0
  if [[ $kind == huge ]] && ! enlarge_pool "$bytes"; then
    leave_out "$size of huge pages, which cannot be had here"
    restore_pool
    return 0
  fi
  [[ $check == yes ]] || run_once "$size" "$kind" "$1"
  for list in "$@"; do
    run_once "$size" "$kind" "$list"
    record "$size" "$kind" "$list"
  done
  restore_pool
}

# lists_of ROUND: of processors, into the array `lists`. Every other round in the other order.
lists_of() {
  lists=("${own[0]}")
  ((${#own[@]} > 1)) || return 0
  lists+=("$(IFS=,; echo "${own[*]}")")
  (($1 % 2 == 0)) || lists=("${lists[1]}" "${lists[0]}")
}

# own_cpus: those that this script may use, one a line.
own_cpus() {
  local range
  for range in $(taskset --cpu-list --pid $$ | sed 's/.*: //; s/,/ /g'); do
    seq "${range%-*}" "${range#*-}"
  done
}

print_table() {
  jq --raw-output --slurp --from-file "$root/tests/scale/registration.jq" "$workspace/figures" |
    column --table --separator $'\t'
}

parse_options "$@"
bin=$(realpath "${RDMABLK_BIN:-$root/build/bin}")
export RDMABLK_BUILD_DIR=${RDMABLK_BUILD_DIR:-$root/build}
[[ -x $bin/rdmablk-target ]] || die "no $bin/rdmablk-target: build it, or set RDMABLK_BIN"
type -P jq >/dev/null || die "jq is not installed: scripts/install-dependencies installs it"
[[ -n ${RDMABLK_TEST_ADDRESS:-} ]] || runner=("$root/scripts/soft-device")
trap finish EXIT
end_on_signals
workspace=$(mktemp --directory "${TMPDIR:-/var/tmp}/rdmablk-registration-XXXXXX")
: >"$workspace/figures"
mapfile -t own < <(own_cpus)
((${#own[@]} > 1)) || leave_out "several threads, with one processor"
for ((round = 0; round < rounds; ++round)); do
  lists_of "$round"
  for size in ${sizes//,/ }; do
    for kind in ${pages//,/ }; do measure "$size" "$kind" "${lists[@]}"; done
  done
done
[[ -z $json ]] || jq --slurp '{version: 1, runs: .}' "$workspace/figures" >"$json"
if [[ ! -s $workspace/figures ]]; then
  [[ $check == no ]] || exit "$nothing_measured"
  die "nothing could be measured"
fi
[[ $check == yes ]] || print_table
