#!/bin/bash
# Checks that what every command prints with --json is described by a schema, which names the command in its title
# ("rdmablk info --map --json"), and that the schemas themselves make sense.
#
# Usage: tests/manuals/schemas.sh DIRECTORY
#
# DIRECTORY has the schemas; RDMABLK_BIN is where the programs lie. tests/e2e/json.sh compares them with what is printed.
set -euo pipefail
# shellcheck source=tests/manuals/commands_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/commands_lib.sh"

failed=0
complain() {
  printf '%s\n' "$*" >&2
  failed=1
}

titles=
for schema in "$1"/*.json; do
  jq --exit-status '.properties.version.const == 1 and (.required | index("version") != null)' "$schema" >/dev/null ||
    complain "$schema: it is no schema of a document with a version"
  titles+=$(jq --raw-output '.title' "$schema" | sed 's/, /\n/g')$'\n'
done
count=0
while read -r command; do
  count=$((count + 1))
  grep --quiet --extended-regexp "^rdmablk $command( --[a-z]+)* --json\$" <<<"$titles" ||
    complain "no schema in $1 has 'rdmablk $command --json' in its title"
done < <(commands_with_json)
((count > 10)) || complain "only $count commands with --json were found"
exit "$failed"
