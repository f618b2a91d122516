# What scripts/bench needs before it measures: programs, memory, images.
# shellcheck shell=bash
# shellcheck disable=SC2154 # set by bench_options.sh

bin=${RDMABLK_BIN:+$(realpath --canonicalize-missing -- "$RDMABLK_BIN")}
made_file='' shared_memory_file='' file_system=''

# wants NAME...: is one of them measured?
wants() {
  local group name
  for group in "${groups[@]}"; do
    for name in "$@"; do
      ! subjects_of "$group" | grep --line-regexp "$name" >/dev/null || return 0
    done
  done
  return 1
}

install_and_build() {
  local build=no
  [[ -n $bin ]] || build=yes
  bin=${bin:-$PWD/build/bin}
  [[ $build == no ]] || scripts/install-dependencies
  ! wants nbdkit qsd || scripts/install-dependencies --bench
  [[ $build == no ]] || build_programs
}

# default_outputs NAME: for those that were not named.
default_outputs() {
  [[ -z $json || -z $html ]] || return 0
  mkdir --parents build 2>/dev/null || die "cannot make $PWD/build for the results: name files with --json and --html"
  json=${json:-$(output_file --json "build/$1.json")}
  # Where all is built, the library is installed first.
  if [[ -n $bin && -z $html && ! -r $chart_library ]]; then
    say "no page is written: there is no $chart_library (install libjs-chart.js)"
  else
    html=${html:-$(output_file --html "build/$1.html")}
  fi
}

build_programs() {
  local -a targets=(rdmablk rdmablk-target rdmablk-fuse softverbs)
  [[ -f build/build.ninja ]] || cmake --preset dev --log-level=WARNING
  # Without --quiet, which would end before cmake has written all, and so make it fail (pipefail).
  ! cmake --build build --target help | grep plain-fuse >/dev/null || targets+=(plain-fuse)
  cmake --build build -j "$(nproc)" --target "${targets[@]}" >"$workspace/build.log" ||
    { cat "$workspace/build.log" >&2 && die "the build failed"; }
}

# Each subject of memory has its own, and fio some; a file takes none, unless it is resident.
check_memory() {
  local count=0 free
  [[ ,$export_options, != *,resident,* || " ${groups[*]} " != *' file '* || -e $file ]] || count=1
  [[ " ${groups[*]} " != *' memory '* ]] || count=$(($(subjects_of memory | wc -l) + 1))
  free=$(awk '/^MemAvailable:/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
  ((count * $(size_bytes) < free)) ||
    die "there is not enough memory for $count times $size: $((free >> 20)) MiB; take a smaller --size"
}

# choose_file: that a file export is measured on. It is still empty when it is made here.
choose_file() {
  if [[ -z $file ]]; then
    file=$(mktemp "${TMPDIR:-/var/tmp}/rdmablk-bench.XXXXXX")
    made_file=$file
  elif [[ ! -e $file ]]; then
    : >"$file" || die "cannot make '$file'"
    made_file=$file
  fi
  file_system=$(findmnt --noheadings --output FSTYPE --target "$file" | tail -n 1)
  [[ ! -b $file ]] || file_system='block device'
  [[ $file_system != tmpfs && $file_system != ramfs ]] ||
    die "'$file' is on a $file_system, which is memory and no disk; name another with --file or TMPDIR"
  [[ -z $made_file ]] || check_room
}

# room: bytes that are free where the file is.
room() { df --block-size=1 --output=avail -- "$file" | sed -n 2p; }

# Rather than fill the disk until nobody can write there any more.
check_room() { (($(size_bytes) <= $(room))) || no_room "No space left on device"; }

# no_room WHY
no_room() {
  die "cannot make a file of $size in '$(dirname "$file")': $1; there is room for $(($(room) >> 20)) MiB"
}

prepare_memory() {
  local subject
  if wants qsd; then
    [[ $(stat --file-system --format %T /dev/shm) == tmpfs ]] || die "/dev/shm is no tmpfs"
    shared_memory_file=$(mktemp /dev/shm/rdmablk-bench.XXXXXX)
    truncate --size "$size" "$shared_memory_file"
  fi
  start_subjects memory
  # The first touch of memory is no work of the subject's.
  for subject in "${started[@]}"; do
    fio_on "${file_of[$subject]}" fill --rw=write --bs=1M --iodepth=4
  done
}

# Writes the file all over when it was made here.
prepare_file() {
  local error
  if [[ -n $made_file ]]; then
    error=$(fallocate --length "$(size_bytes)" "$file" 2>&1) || no_room "${error##*: }"
    say "filling $file"
    fio_on "$file" fill --rw=write --bs=1M --iodepth=4 --end_fsync=1
  fi
  start_subjects file
}

remove_images() {
  [[ -z $made_file ]] || rm -f "$made_file"
  [[ -z $shared_memory_file ]] || rm -f "$shared_memory_file"
}
