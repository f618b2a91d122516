#!/bin/bash
# The packages of the library: a C program is built with what they hold, by pkg-config and by CMake, and works on an
# image; they are removed, and nothing is left.
# Runs in a guest (scripts/vm).
#
# Environment:
#   RDMABLK_PACKAGES   the directory of the packages
#   RDMABLK_BIN        the directory of the target's program
#   RDMABLK_TEST_ADDRESS
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/remote_lib.sh"
# shellcheck source=tests/packages/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
: "${RDMABLK_PACKAGES:?}" "${RDMABLK_TEST_ADDRESS:?}"
start_remote
for tool in cc pkg-config cmake; do type -P "$tool" >/dev/null || skip "there is no $tool"; done

readonly packages=(librdmablk1 librdmablk-dev)
readonly example=/usr/share/doc/librdmablk-dev/examples/rdmablk-example.c

# is_loadable: whether the dynamic linker knows of the library.
is_loadable() { grep --quiet 'librdmablk\.so\.1 ' < <(ldconfig --print-cache); }

# works PROGRAM: a new program works on the image, with the installed library.
works() {
  expect_equal "what $1 is linked with" "$(realpath "$library")" \
    "$(realpath "$(ldd "$1" | awk '$1 == "librdmablk.so.1" { print $3 }')")"
  expect_equal "what $1 says" "4194304 bytes were written, flushed, read and compared" "$("$1" "$(uri disk)")"
}

package_files "${packages[@]}" >"$scratch/files"
[[ $(wc --lines <"$scratch/files") -gt 15 ]] || fail "there is little in the packages: $(cat "$scratch/files")"
! is_loadable || fail "the library is there already"
install_packages "${packages[@]}"
is_loadable || fail "the dynamic linker does not know of the library"
library=$(ldconfig --print-cache | awk '$1 == "librdmablk.so.1" { print $NF }')
start_target --export disk=memory:4M

# With pkg-config, and without a warning.
expect_equal "its version" "$(dpkg-deb --field "$RDMABLK_PACKAGES"/librdmablk1_*.deb Version)" \
  "$(pkg-config --modversion rdmablk)"
# shellcheck disable=SC2046 # words
cc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -pedantic -Werror -o "$scratch/by-pkg-config" "$example" \
  $(pkg-config --cflags --libs rdmablk)
works "$scratch/by-pkg-config"

# With CMake.
mkdir "$scratch/project"
cp "$example" "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(example LANGUAGES C)
find_package(rdmablk 0.1 REQUIRED)
add_executable(by-cmake rdmablk-example.c)
target_link_libraries(by-cmake PRIVATE rdmablk::rdmablk)
END
{ cmake -S "$scratch/project" -B "$scratch/built" && cmake --build "$scratch/built"; } >"$scratch/cmake.log" 2>&1 ||
  fail "cmake: $(cat "$scratch/cmake.log")"
works "$scratch/built/by-cmake"
stop_target

# A program needs the first package only.
dpkg --remove librdmablk-dev >"$scratch/dpkg.log" 2>&1 || fail "dpkg --remove: $(cat "$scratch/dpkg.log")"
[[ ! -e $example && -e $library ]] || fail "the one package was removed with the other"
start_target --export disk=memory:4M
works "$scratch/by-pkg-config"
stop_target
dpkg --purge "${packages[@]}" >"$scratch/dpkg.log" 2>&1 || fail "dpkg --purge: $(cat "$scratch/dpkg.log")"
while read -r file; do
  [[ ! -e $file ]] || fail "$file is left"
done <"$scratch/files"
! is_loadable || fail "the dynamic linker knows of the library still"
