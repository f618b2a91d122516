# What scripts/bench measures: starts each subject, and takes all of them away again.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the other parts read what is set here
# shellcheck disable=SC2154 # set by bench_options.sh, bench_setup.sh and rdma_device.sh
#
# Set here, by the name of the subject: `file_of`, what fio works on; `processes_of`, the processes
# that serve it, as "NAME=PID NAME=PID"; `started`, the subjects that run.

declare -A file_of=() processes_of=()
started=() daemons=() mount_points=()

# start_subjects memory|file
start_subjects() {
  local subject
  mkdir -p "$workspace/$1"
  for subject in $(subjects_of "$1"); do
    if [[ $subject == plain && ! -x $bin/plain-fuse ]]; then
      say "plain is left out: there is no $bin/plain-fuse"
      continue
    fi
    start_"$1"_"$subject"
    started+=("$subject")
  done
  ((${#started[@]} > 0)) || die "nothing of '$wanted_subjects' can be measured ($1)"
}

# launch LOG COMMAND...: in a session of its own, so that Ctrl-C ends it only after the unmount.
# Sets `launched`, its process.
launch() {
  setsid "${@:2}" </dev/null >"$workspace/$1.log" 2>&1 &
  launched=$!
  daemons+=("$launched")
}

# launch_mount_of GROUP SUBJECT PROCESS COMMAND...: the mount point is added to the command, unless
# an argument ends in @, which stands for it.
launch_mount_of() {
  local path=$workspace/$1/$2 attempts=300
  local -a command=("${@:4}")
  [[ " ${command[*]} " == *'@ '* ]] || command+=(@)
  : >"$path"
  launch "$2-mount" "${command[@]/%@/"$path"}"
  mount_points+=("$path")
  until is_mounted "$path"; do
    kill -0 "$launched" 2>/dev/null || die "$2 ended at its start"
    ((attempts-- > 0)) || die "$2 is not mounted after 30 seconds"
    sleep 0.1
  done
  file_of[$2]=$path processes_of[$2]+=" $3=$launched"
}

is_mounted() { findmnt --mountpoint "$1" >/dev/null; }

start_memory_null() {
  launch_mount_of memory null daemon "$bin/rdmablk-fuse" --foreground --quiet --null "$size"
}

start_memory_plain() { launch_mount_of memory plain daemon "$bin/plain-fuse" "$size"; }

start_memory_rdmablk() { start_rdmablk memory "memory:$size"; }

start_memory_nbdkit() { start_nbdkit memory memory "$size"; }

start_memory_qsd() {
  launch_mount_of memory qsd daemon qemu-storage-daemon \
    --blockdev "driver=file,filename=$shared_memory_file,node-name=image" \
    --export type=fuse,id=image,node-name=image,writable=on,mountpoint=@
}

start_file_file() { file_of[file]=$file processes_of[file]=''; }

start_file_rdmablk() {
  start_rdmablk file "file:${file//,/\\,}${export_options:+,$export_options}"
}

start_file_nbdkit() { start_nbdkit file file "$file"; }

# start_rdmablk GROUP TYPE:ARG
start_rdmablk() {
  local -a command
  target_command "bench=$2" "${target_options[@]}"
  launch_target "${command[@]}"
  processes_of[rdmablk]="target=$target"
  launch_mount_of "$1" rdmablk mount "${runner[@]}" "$bin/rdmablk-fuse" --foreground --quiet "$(target_uri bench)"
}

# start_nbdkit GROUP PLUGIN ARGUMENT
start_nbdkit() {
  local socket=$workspace/$1.socket attempts=300
  launch nbdkit nbdkit --foreground --unix "$socket" "$2" "$3"
  processes_of[nbdkit]="nbdkit=$launched"
  until [[ -S $socket ]]; do
    kill -0 "$launched" 2>/dev/null || die "nbdkit ended at its start"
    ((attempts-- > 0)) || die "nbdkit is not ready after 30 seconds"
    sleep 0.1
  done
  launch_mount_of "$1" nbdkit nbdfuse nbdfuse @ "nbd+unix:///?socket=$(uri_encode "$socket")"
}

# uri_encode TEXT: as a part of a URI.
uri_encode() { jq --null-input --raw-output --arg text "$1" '$text | @uri'; }

stop_subjects() {
  local path process
  for path in "${mount_points[@]}"; do
    ! is_mounted "$path" || fusermount3 -u "$path" || fusermount3 -u -z "$path" || true
  done
  for process in "${daemons[@]}"; do kill "$process" 2>/dev/null || true; done
  for process in "${daemons[@]}"; do wait "$process" 2>/dev/null || true; done
  stop_target
  mount_points=() daemons=() started=() file_of=() processes_of=()
}

# What the programs said last, for when something failed.
show_bench_logs() {
  local log
  for log in "$workspace"/*.log; do
    [[ ! -s $log ]] || tail -n 20 "$log" | sed "s/^/    $(basename "$log" .log): /" >&2
  done
}
