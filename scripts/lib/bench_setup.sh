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
      ! subjects_of "$group" | grep --quiet --line-regexp "$name" || return 0
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
  [[ $build == yes ]] || return 0
  build_programs
  json=${json:-$PWD/build/bench.json} html=${html:-$PWD/build/bench.html}
}

build_programs() {
  local -a targets=(rdmablk rdmablk-target rdmablk-fuse softverbs)
  [[ -f build/build.ninja ]] || cmake --preset dev --log-level=WARNING
  ! cmake --build build --target help | grep --quiet 'plain-fuse' || targets+=(plain-fuse)
  cmake --build build -j "$(nproc)" --target "${targets[@]}" >"$workspace/build.log" ||
    { cat "$workspace/build.log" >&2 && die "the build failed"; }
}

# Each subject of memory has its own, and fio some.
check_memory() {
  local count=1 free
  [[ " ${groups[*]} " != *' memory '* ]] || count=$(($(subjects_of memory | wc -l) + 1))
  free=$(awk '/^MemAvailable:/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
  ((count * $(size_bytes) < free)) ||
    die "there is not enough memory for $count times $size: $((free >> 20)) MiB; take a smaller --size"
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

# Makes the file and writes it all over.
prepare_file() {
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
  if [[ -n $made_file ]]; then
    fallocate --length "$size" "$file" || die "cannot make $size in '$file'"
    say "filling $file"
    fio_on "$file" fill --rw=write --bs=1M --iodepth=4 --end_fsync=1
  fi
  start_subjects file
}

remove_images() {
  [[ -z $made_file ]] || rm -f "$made_file"
  [[ -z $shared_memory_file ]] || rm -f "$shared_memory_file"
}
