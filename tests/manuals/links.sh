#!/bin/bash
# Checks that what the documents link to is there: files, and headings in them.
#
# Usage: tests/manuals/links.sh SOURCE-DIRECTORY
set -euo pipefail
cd "$1"
failed=0
complain() {
  printf '%s\n' "$*" >&2
  failed=1
}

# anchors_of FILE: its headings as links name them.
anchors_of() {
  awk '/^```/ { code = !code } !code && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
    sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

count=0
while IFS=: read -r document link; do
  link=${link#*(}
  link=${link%)}
  [[ $link != *://* ]] || continue
  count=$((count + 1))
  file=${link%%#*}
  path=$document
  [[ -z $file ]] || path=$(dirname "$document")/$file
  if [[ ! -e $path ]]; then
    complain "$document: there is no $link"
  elif [[ $link == *#* ]] && ! grep -qxF -e "${link#*#}" < <(anchors_of "$path"); then
    complain "$document: $path has no heading for #${link#*#}"
  fi
done < <(grep -oE --with-filename '\]\([^) ]+\)' ./*.md docs/*.md common/softverbs/*.md tests/*/*.md)
((count > 30)) || complain "only $count links were found"
exit "$failed"
