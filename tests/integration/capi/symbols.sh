#!/bin/bash
# Checks that the library exports what its map says, by the version that it says, and nothing else; and that this is
# what the header declares.
#
# Usage: symbols.sh LIBRARY DIRECTORY
#
# DIRECTORY has librdmablk.map and rdmablk.h.
set -euo pipefail
library=$1 directory=$2

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# expect_same WHAT EXPECTED ACTUAL: lists, a line each.
expect_same() {
  local difference
  difference=$(diff <(echo "$2") <(echo "$3")) || fail "$1: $difference"
}

exported=$(nm --dynamic --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort)
mapped=$(awk '/^LIBRDMABLK_/ { version = $1 } /^    [a-z_]+;/ { sub(/;/, "", $1); print $1 "@@" version }' \
  "$directory/librdmablk.map" | LC_ALL=C sort)
declared=$(grep --invert-match '^typedef' "$directory/rdmablk.h" | grep --only-matching --extended-regexp '\brdmablk_[a-z_]+\(' | LC_ALL=C sort --unique)
functions=$(awk -F @@ '{ print $1 "(" }' <<<"$mapped")

[[ $(wc --lines <<<"$mapped") -gt 40 ]] || fail "the map has only: $mapped"
expect_same "exported, other than in the map" "$mapped" "$exported"
expect_same "declared or told of, other than in the map" "$functions" "$declared"
[[ $(objdump --private-headers "$library" | awk '$1 == "SONAME" { print $2 }') == librdmablk.so.1 ]] ||
  fail "its name is not librdmablk.so.1"
