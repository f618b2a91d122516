# A run of fio, and what the processes used meanwhile; see README-bench.md for the lines it makes.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by bench_options.sh and bench_subjects.sh

# fio_on FILE NAME OPTION...: the result goes to NAME.json. fio takes a colon for the end of a name.
fio_on() {
  (cd "$workspace" && fio --name="$2" --filename="${1//:/\\:}" --ioengine=libaio --direct=1 "${@:3}" \
    --output-format=json --output="$2.json") </dev/null >"$workspace/fio.log" 2>&1 || die "fio failed on $1"
}

# cpu_time NAME=PID...: an object of {threads, process} in nanoseconds: of the threads that there are,
# exactly, and with those that have ended, in ticks.
cpu_time() {
  local process threads words
  for process in "$@"; do
    # Threads end while one looks.
    threads=$(cat "/proc/${process#*=}"/task/*/schedstat 2>/dev/null | awk '{ sum += $1 } END { printf "%.0f", sum }' || true)
    { words=$(<"/proc/${process#*=}/stat"); } 2>/dev/null ||
      die "${process%%=*} ended while it was measured"
    awk -v name="${process%%=*}" -v threads="$threads" -v tick="$((1000000000 / $(getconf CLK_TCK)))" \
      '{ printf "{\"%s\": {\"threads\": %s, \"process\": %.0f}}\n", name, threads, ($12 + $13) * tick }' <<<"${words##*) }"
  done | jq --slurp --compact-output 'add // {}'
}

# measure_round GROUP NUMBER: who comes first changes with each round.
measure_round() {
  local id pattern block depth place
  local -i count=${#started[@]}
  for workload in "${workloads[@]}"; do
    IFS='|' read -r id _ pattern block depth _ <<<"$workload"
    for ((place = 0; place < count; ++place)); do
      measure "$1" "$2" "${started[(place + $2 - 1) % count]}" "$id" "$pattern" "$block" "$depth"
    done
  done
}

# measure GROUP ROUND SUBJECT WORKLOAD PATTERN BLOCK DEPTH: adds a line to the runs.
measure() {
  local before after mix=()
  local -a processes
  read -ra processes <<<"${processes_of[$3]}"
  [[ $5 != randrw ]] || mix=(--rwmixread=70)
  before=$(cpu_time "${processes[@]}")
  fio_on "${file_of[$3]}" run --rw="$5" --bs="$6" --iodepth="$7" --runtime="$seconds" --time_based \
    --ramp_time=200ms --randrepeat=0 --norandommap "${mix[@]}"
  after=$(cpu_time "${processes[@]}")
  jq --compact-output -L scripts/lib --arg group "$1" --argjson round "$2" --arg subject "$3" --arg workload "$4" \
    --argjson before "$before" --argjson after "$after" --argjson seconds "$seconds" \
    'include "bench_fio"; run' "$workspace/run.json" >>"$workspace/runs"
}
