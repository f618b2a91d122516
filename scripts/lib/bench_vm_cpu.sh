# CPU time of those who take part in a measurement. The guest's kernel samples it with its clock, 100 times a
# second, and tells processes from one another, not the kernel's work for one side from that for the other.
# shellcheck shell=bash
# shellcheck disable=SC2154 # workspace: of the caller

# busy_ticks: of all of the guest, in hundredths of a second.
busy_ticks() {
  local user nice system irq softirq
  read -r _ user nice system _ _ irq softirq _ </proc/stat
  echo $((user + nice + system + irq + softirq))
}

# process_ticks [PID]: of a process that runs; 0 of none.
process_ticks() {
  local line
  local -a fields
  [[ -n ${1:-} ]] || { echo 0 && return; }
  line=$(<"/proc/$1/stat")
  read -ra fields <<<"${line##*) }"
  echo $((fields[11] + fields[12]))
}

# timed FILE COMMAND...: runs it; its CPU time, in seconds of user and of system, goes to FILE, and what it says on
# standard error to FILE.err.
timed() {
  (
    TIMEFORMAT='%3U %3S'
    time "${@:2}" </dev/null 2>"$1.err"
  ) 2>"$1"
}

# ticks_of FILE: what timed wrote.
ticks_of() { awk '{ printf "%d\n", ($1 + $2) * 100 }' "$1"; }

# start_watch TARGET MOUNT: two processes, each of which may be ''.
start_watch() {
  watched_target=$1 watched_mount=$2
  watch_start=${EPOCHREALTIME/./}
  start_busy=$(busy_ticks)
  start_target=$(process_ticks "$1")
  start_mount=$(process_ticks "$2")
}

# end_watch CLIENT-FILE [SERVER-FILE]: prints an object, percent of the processor for each that took part; the
# files are what timed wrote. What remains is the kernel's: both sides' protocols, and starting programs.
end_watch() {
  local elapsed=$((${EPOCHREALTIME/./} - watch_start)) busy client target='' mount=''
  busy=$(($(busy_ticks) - start_busy))
  client=$(ticks_of "$1")
  [[ -z $watched_target ]] || target=$(($(process_ticks "$watched_target") - start_target))
  [[ -z $watched_mount ]] || mount=$(($(process_ticks "$watched_mount") - start_mount))
  [[ -z ${2:-} ]] || target=$(ticks_of "$2")
  awk -v microseconds="$elapsed" -v busy="$busy" -v client="$client" -v target="$target" -v mount="$mount" '
    function percent(ticks) { return sprintf("%.1f", ticks * 1000000 / microseconds) }
    BEGIN {
      kernel = busy - client - target - mount
      printf "{\"client\": %s", percent(client)
      if (mount != "") printf ", \"mount\": %s", percent(mount)
      if (target != "") printf ", \"target\": %s", percent(target)
      printf ", \"kernel\": %s}\n", percent(kernel > 0 ? kernel : 0)
    }'
}
