# What the tests share that install the packages in a guest: each sources this file behind lib.sh of the end-to-end
# tests.
#
# Environment:
#   RDMABLK_PACKAGES   the directory of the packages
# shellcheck shell=bash
: "${RDMABLK_PACKAGES:?}"

install_packages() { # NAME...
  local package
  # The index of all manual pages opens each of them, and the guest's file system keeps them open.
  rm -f /var/lib/man-db/auto-update
  for package; do
    # shellcheck disable=SC2154 # of lib.sh
    dpkg --force-unsafe-io --install "$RDMABLK_PACKAGES/${package}"_*.deb >"$scratch/dpkg.log" 2>&1 ||
      fail "dpkg --install: $(cat "$scratch/dpkg.log")"
  done
}

package_files() { # NAME...: prints their files that are not there yet
  local package file
  for package; do
    dpkg-deb --fsys-tarfile "$RDMABLK_PACKAGES/${package}"_*.deb | tar --list | sed 's/^\.//'
  done | while read -r file; do
    [[ -e $file ]] || echo "$file"
  done
}
