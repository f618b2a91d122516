#!/bin/bash
# What is in the packages: files and who may use them, what they need, what dpkg does with them, and what
# lintian, where it is installed, thinks of them.
#
# Environment:
#   RDMABLK_PACKAGES   the directory of the packages
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
: "${RDMABLK_PACKAGES:?}"
scratch=$(mktemp --directory)
trap 'rm -rf "$scratch"' EXIT

# package NAME: its file.
package() { ls "$RDMABLK_PACKAGES/$1"_*.deb; }

field() { dpkg-deb --field "$(package "$1")" "$2"; }

# expect_file PACKAGE MODE PATH
expect_file() {
  grep --quiet --fixed-strings --line-regexp --regexp "$2 root/root $3" "$scratch/$1.list" ||
    fail "$1 has no $3 with the mode $2: $(grep --fixed-strings "${3##*/}" "$scratch/$1.list" || true)"
}

version=$(field rdmablk-target Version)
for name in rdmablk-target rdmablk librdmablk1 librdmablk-dev; do
  dpkg-deb --contents "$(package "$name")" |
    awk '{ sub(/^\./, "", $6); print $1, $2, $6 }' >"$scratch/$name.list"
  expect_equal "the version of $name" "$version" "$(field "$name" Version)"
  expect_match "where it is described" "/usr/share/doc/$name/copyright" "$(<"$scratch/$name.list")"
  ! awk '$3 !~ /\/$/ && $2 == "root/root" { next } $2 != "root/root"' "$scratch/$name.list" | grep . ||
    fail "$name has files that are not root's"
done
for name in rdmablk-target rdmablk librdmablk1; do
  expect_match "what $name needs" "ibverbs-providers" "$(field "$name" Depends)"
  # Found in the programs, by dpkg-shlibdeps.
  expect_match "what $name needs" "libibverbs1 \(>= .*librdmacm1 \(>= " "$(field "$name" Depends)"
done
expect_match "what apt search shows" "^lend memory and files .*: the daemon
 The rdmablk target " "$(field rdmablk-target Description)"
expect_match "what apt search shows" "^use memory and files .*: the library
 A C library " "$(field librdmablk1 Description)"
expect_match "what rdmablk needs" "fuse3" "$(field rdmablk Depends)"
expect_equal "what librdmablk-dev needs" "librdmablk1 (= $version)" "$(field librdmablk-dev Depends)"
expect_equal "who needs the library needs" "librdmablk 1 librdmablk1 (>= $version)" \
  "$(dpkg-deb --info "$(package librdmablk1)" shlibs)"
expect_equal "what dpkg does with the library" "activate-noawait ldconfig" \
  "$(dpkg-deb --info "$(package librdmablk1)" triggers)"

expect_file rdmablk-target -rwxr-xr-x /usr/sbin/rdmablk-target
expect_file rdmablk-target -rw-r--r-- /usr/lib/systemd/system/rdmablk-target.service
expect_file rdmablk-target -rw-r--r-- /usr/lib/sysusers.d/rdmablk-target.conf
expect_file rdmablk-target -rw-r----- /etc/rdmablk/target.toml
expect_file rdmablk-target drwxr-x--- /etc/rdmablk/target.d/
expect_file rdmablk -rwxr-xr-x /usr/bin/rdmablk
expect_file rdmablk -rwxr-xr-x /usr/bin/rdmablk-fuse
for page in man8/rdmablk-target.8 man5/rdmablk-target.toml.5; do
  expect_file rdmablk-target -rw-r--r-- "/usr/share/man/$page.gz"
done
for page in man1/rdmablk.1 man1/rdmablk-export.1 man5/rdmablk-maptab.5 man7/rdmablk-uri.7 man8/mount.rdmablk.8 \
  man8/rdmablk-fuse.8; do
  expect_file rdmablk -rw-r--r-- "/usr/share/man/$page.gz"
done
expect_file rdmablk -rw-r--r-- /usr/share/doc/rdmablk/schemas/mounts.json
libraries=$(awk '$3 ~ /\/librdmablk\.so\.1$/ { print $3 }' "$scratch/librdmablk1.list")
libraries=${libraries%/*}
expect_file librdmablk1 -rw-r--r-- "$libraries/librdmablk.so.1.$version"
expect_file librdmablk-dev -rw-r--r-- /usr/include/rdmablk.h
expect_file librdmablk-dev lrwxrwxrwx "$libraries/librdmablk.so"
for file in pkgconfig/rdmablk.pc cmake/rdmablk/rdmablk-config.cmake cmake/rdmablk/rdmablk-config-version.cmake; do
  expect_file librdmablk-dev -rw-r--r-- "$libraries/$file"
done
expect_file librdmablk-dev -rw-r--r-- /usr/share/man/man3/librdmablk.3.gz
expect_file librdmablk-dev -rw-r--r-- /usr/share/doc/librdmablk-dev/examples/rdmablk-example.c
expect_equal "conffiles" /etc/rdmablk/target.toml "$(dpkg-deb --info "$(package rdmablk-target)" conffiles)"

# Installed somewhere else, the programs run.
for name in rdmablk-target rdmablk librdmablk1 librdmablk-dev; do dpkg-deb --extract "$(package "$name")" "$scratch/root"; done
for program in usr/sbin/rdmablk-target usr/bin/rdmablk usr/bin/rdmablk-fuse; do
  expect_match "$program --version" " $version\$" "$("$scratch/root/$program" --version)"
  ! grep --quiet '\.debug_info' < <(readelf --sections "$scratch/root/$program") || fail "$program was not stripped"
done
# The symbols that dpkg-shlibdeps goes by are those of the library.
library=$scratch/root$libraries/librdmablk.so.1
expect_equal "symbols" "$(nm --dynamic --defined-only --with-symbol-versions "$library" |
  awk '{ sub(/@@/, "@", $3); print $3 ($2 == "A" ? "@" $3 : "") }' | LC_ALL=C sort)" \
  "$(dpkg-deb --info "$(package librdmablk1)" symbols | awk '/^ / { print $1 }' | LC_ALL=C sort)"
! grep --quiet '\.debug_info' < <(readelf --sections "$library") || fail "the library was not stripped"
expect_equal "where pkg-config looks" "prefix=/usr" "$(head -n 1 "$scratch/root$libraries/pkgconfig/rdmablk.pc")"

grep --quiet "^ExecStart=/usr/sbin/rdmablk-target " "$scratch/root/usr/lib/systemd/system/rdmablk-target.service" ||
  fail "the unit starts another program"

if type -P lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --tag-display-limit 0 \
    "$(package rdmablk-target)" "$(package rdmablk)" "$(package librdmablk1)" "$(package librdmablk-dev)" >&2 || fail "lintian found something"
fi
echo passed
