# A host that is Debian's kernel in QEMU, emulated: how scripts/vm gets it and starts it.
# shellcheck shell=bash
# shellcheck disable=SC2154 # memory, job, share, device, hosts: of scripts/vm

kernel_cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rdmablk
# What the initial file system loads to reach the host's files; the guest loads the rest from there.
readonly first_modules=(virtio_pci 9pnet_virtio 9p overlay)
# The modules that are kept of a kernel, which has ten times as many.
readonly module_directories=(arch crypto fs lib net drivers/block drivers/char drivers/infiniband/core
  drivers/infiniband/sw drivers/md drivers/net/veth.ko drivers/virtio)

check_kernel() {
  local tool
  [[ $device == rxe ]] || usage_error "Debian's kernel has no soft-iWARP: --kernel qemu takes --device rxe only"
  ((hosts == 1)) || usage_error "--hosts 2 takes --kernel uml"
  for tool in qemu-system-x86_64 busybox cpio; do
    type -P "$tool" >/dev/null || die "$tool is not installed; run: scripts/install-dependencies --vm"
  done
  ! ldd "$(type -P busybox)" >/dev/null 2>&1 ||
    die "$(type -P busybox) is not linked statically; run: scripts/install-dependencies --vm"
  choose_kernel
}

# Sets kernel_directory, where the kernel lies. A kernel in the cache is good for ever: with one there,
# no network is needed.
choose_kernel() {
  mkdir --parents "$kernel_cache" || die "no kernel can be kept in $kernel_cache (set XDG_CACHE_HOME)"
  find_kernel && return
  exec {cache_lock}>"$kernel_cache/lock"
  flock "$cache_lock"
  find_kernel || fetch_kernel
  exec {cache_lock}>&-
  find_kernel || die "there is no kernel in $kernel_cache, though one was fetched"
}

find_kernel() {
  kernel_directory=$(find "$kernel_cache" -maxdepth 1 -name 'linux-image-*' | sort --version-sort | tail -n 1)
  [[ -n $kernel_directory ]]
}

# Prints the name of the package with the newest kernel that apt knows of, if any.
kernel_package() {
  apt-cache depends linux-image-amd64 2>/dev/null |
    sed -n '/^ *Depends: \(linux-image-[0-9].*-amd64\)$/{s//\1/p;q}'
}

# Gets Debian's kernel as a package, and keeps what is needed of it.
fetch_kernel() {
  local package pattern
  local -a patterns=('./boot/vmlinuz-*')
  package=$(kernel_package)
  if [[ -z $package ]] && ((EUID == 0)); then
    apt-get update --quiet=2 --option Acquire::Retries=3 >&2 || true
    package=$(kernel_package)
  fi
  [[ -n $package ]] || die "apt knows no package linux-image-amd64; run: apt-get update"
  say "fetching Debian's kernel, $package (70 MB, once, into $kernel_cache)"
  for pattern in "${module_directories[@]}"; do
    patterns+=("./lib/modules/*/kernel/$pattern")
  done
  patterns+=('./lib/modules/*/modules.*')
  rm -rf "$kernel_cache"/partial.*
  work=$(mktemp --directory "$kernel_cache/partial.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  (cd "$work" && apt-get --quiet=2 --option Acquire::Retries=3 --option APT::Sandbox::User= download "$package" >&2) ||
    die "$package cannot be fetched (to try again with fresh lists: apt-get update); --kernel qemu needs it once"
  mkdir "$work/kernel"
  dpkg --fsys-tarfile "$work/$package"_*.deb |
    tar --extract --directory "$work/kernel" --wildcards "${patterns[@]}" ||
    die "$package cannot be unpacked into $kernel_cache"
  depmod --basedir "$work/kernel" "${package#linux-image-}" || die "depmod failed for $package"
  mv "$work/kernel" "$kernel_cache/$package"
  rm -rf "$work"
  trap - EXIT
}

# make_initial_files DIRECTORY VERSION: the file system that the kernel starts on, as initrd.
make_initial_files() {
  local root=$1/initial module
  mkdir --parents "$root/bin"
  cp "$(type -P busybox)" "$root/bin/busybox"
  cp "$scripts/lib/vm_qemu_init.sh" "$root/init"
  chmod +x "$root/init"
  modprobe --dirname "$kernel_directory" --set-version "$2" --show-depends --all "${first_modules[@]}" |
    awk '$1 == "insmod" && !seen[$2]++ { print $2 }' |
    while read -r module; do
      cp "$module" "$root/"
      basename "$module"
    done >"$root/modules"
  (cd "$root" && find . | cpio --create --format=newc --quiet) >"$1/initrd"
  rm -rf "$root"
}

# start_kernel HOST: output of the guest's command goes to descriptors 3 and 4. In $! is a process that ends with the guest, and ends it on SIGTERM.
start_kernel() {
  local directory=$job/host$1 version=${kernel_directory##*/linux-image-}
  local -a launcher shares=()
  make_initial_files "$directory" "$version"
  choose_launcher
  add_share root / ,readonly=on
  add_share job "$directory"
  [[ -z $share ]] || add_share share "$(realpath "$share")"
  setsid "${launcher[@]}" qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot \
    -accel tcg,thread=multi -cpu max -smp 2 -m "$(($(numfmt --from=iec "$memory") >> 20))M" \
    -kernel "$kernel_directory/boot/vmlinuz-$version" -initrd "$directory/initrd" \
    -append "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable" \
    -serial "file:$directory/console" "${shares[@]}" -device virtio-rng-pci -device virtio-serial-pci \
    -chardev "file,id=out,path=/dev/fd/3" -device virtserialport,chardev=out,name=out \
    -chardev "file,id=err,path=/dev/fd/4" -device virtserialport,chardev=err,name=err \
    </dev/null >>"$directory/console" 2>&1 &
}

# add_share TAG DIRECTORY [OPTION]
add_share() {
  shares+=(-fsdev "local,id=$1,path=$2,security_model=none,multidevs=remap${3:-}"
    -device "virtio-9p-pci,fsdev=$1,mount_tag=$1")
}
