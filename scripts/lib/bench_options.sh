# The command line of scripts/bench.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the other parts read what is set here

# Names of what can be measured, in the order in which it is shown.
readonly memory_subjects=(null plain rdmablk nbdkit qsd) file_subjects=(file rdmablk nbdkit)
# Name, title, fio's pattern, bytes of a request, requests in flight, the figure that is shown.
readonly all_workloads=(
  'randread-4k-1|4 KiB random read, depth 1|randread|4096|1|iops'
  'randread-4k-32|4 KiB random read, depth 32|randread|4096|32|iops'
  'randwrite-4k-1|4 KiB random write, depth 1|randwrite|4096|1|iops'
  'randwrite-4k-32|4 KiB random write, depth 32|randwrite|4096|32|iops'
  'read-1m-4|1 MiB sequential read, depth 4|read|1048576|4|bandwidth_bytes_per_second'
  'write-1m-4|1 MiB sequential write, depth 4|write|1048576|4|bandwidth_bytes_per_second'
  'randrw-4k-32|4 KiB 70/30 mix, depth 32|randrw|4096|32|iops'
)

groups=() workloads=() wanted_subjects='' wanted_workloads=. command_line=''
file='' overwrite=no size=512M rounds=5 seconds=2 export_options=direct=on wanted_device=''
target_options=() json='' html='' markdown='' svg=''
workspace='' load='' finished=no made_link=''

# What one would type to measure the same again, wherever the results go.
command_to_repeat() {
  printf scripts/bench
  while (($# > 0)); do
    case $1 in
      --json | --html | --markdown | --svg) shift ;;
      *) printf ' %q' "$1" ;;
    esac
    (($# == 0)) || shift
  done
}

parse_options() {
  local memory=no with_file=no
  command_line=$(command_to_repeat "$@")
  while (($# > 0)); do
    case $1 in
      --memory) memory=yes ;;
      --file)
        with_file=yes
        if [[ ${2:--} != -* ]]; then
          file=$(output_file "$1" "$2")
          shift
        fi
        ;;
      --overwrite) overwrite=yes ;;
      --size | --rounds | --time | --subjects | --workloads | --export-options | --device | --json | --html | --markdown | --svg)
        need_value "$@"
        set_option "$1" "$2"
        shift
        ;;
      --help) print_help && exit 0 ;;
      --) target_options=("${@:2}") && break ;;
      *) usage_error "unknown argument '$1'" ;;
    esac
    shift
  done
  choose_groups "$memory" "$with_file"
  check_options
}

set_option() {
  case $1 in
    --size) size=$2 ;;
    --rounds) rounds=$2 ;;
    --time) seconds=$2 ;;
    --subjects)
      [[ $2 =~ ^[a-z]+(,[a-z]+)*$ ]] ||
        usage_error "--subjects is '$2': it takes names with commas between them, and no spaces: null,rdmablk"
      wanted_subjects=$2
      ;;
    --workloads) wanted_workloads=$2 ;;
    --export-options) export_options=$2 ;;
    --device) wanted_device=$2 ;;
    --json) json=$(output_file "$@") ;;
    --html) html=$(output_file "$@") ;;
    --markdown) markdown=$(output_file "$@") ;;
    --svg) svg=$(output_file "$@") ;;
  esac
}

# choose_groups MEMORY FILE: both when neither was asked for.
choose_groups() {
  [[ $1 == no && $2 == yes ]] || groups+=(memory)
  [[ $1 == yes && $2 == no ]] || groups+=(file)
  [[ ${groups[0]} == file ]] || wanted_device=${wanted_device:-$software_device}
}

check_options() {
  # No more digits than numfmt and the shell can reckon with.
  [[ $size =~ ^[1-9]([0-9]{0,14}|[0-9]{0,7}[KMG]|[0-9]{0,4}T)$ ]] ||
    usage_error "--size is '$size': it takes a size such as 512M"
  (($(size_bytes) >= 16777216)) || usage_error "--size is '$size': it takes at least 16M"
  [[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--rounds is '$rounds': it takes a number from 1"
  [[ $seconds =~ ^[1-9][0-9]{0,3}$ ]] || usage_error "--time is '$seconds': it takes whole seconds from 1"
  [[ -z $file || ! -e $file || $overwrite == yes ]] ||
    usage_error "'$file' exists: its content would be destroyed; say --overwrite if it may be"
  [[ ${TMPDIR:-/tmp} != *[,#$'\n']* ]] || # the end of an option to qemu-storage-daemon, or of a name to fio
    usage_error "TMPDIR is '${TMPDIR//$'\n'/\\n}': take a directory without comma, # or line break in its name"
  [[ $file != *'#'* ]] || usage_error "--file is '$file': fio takes no # in a name"
  check_subjects
  choose_workloads
}

size_bytes() { numfmt --from=iec "$size"; }

check_subjects() {
  local name
  local -a names
  IFS=, read -ra names <<<"$wanted_subjects"
  for name in "${names[@]}"; do
    [[ " ${memory_subjects[*]} ${file_subjects[*]} " == *" $name "* ]] ||
      usage_error "--subjects has '$name': there are ${memory_subjects[*]}, and file"
  done
  drop_empty_groups
}

# A group of which no subject is wanted is not measured.
drop_empty_groups() {
  local group
  local -a kept=()
  for group in "${groups[@]}"; do
    [[ -z $(subjects_of "$group") ]] || kept+=("$group")
  done
  ((${#kept[@]} > 0)) || usage_error "--subjects is '$wanted_subjects': nothing of that is measured with a ${groups[*]} export"
  groups=("${kept[@]}")
}

# subjects_of GROUP: those that are asked for, a line each.
subjects_of() {
  local name
  local -n all=${1}_subjects
  for name in "${all[@]}"; do
    [[ -n $wanted_subjects && ,$wanted_subjects, != *,$name,* ]] || echo "$name"
  done
}

choose_workloads() {
  local workload status=0
  grep --extended-regexp --quiet -- "$wanted_workloads" <<<"" 2>/dev/null || status=$?
  ((status < 2)) || usage_error "--workloads is '$wanted_workloads': it is no regular expression"
  for workload in "${all_workloads[@]}"; do
    [[ ! ${workload%%|*} =~ $wanted_workloads ]] || workloads+=("$workload")
  done
  ((${#workloads[@]} > 0)) || usage_error "--workloads is '$wanted_workloads': nothing is called so"
}
