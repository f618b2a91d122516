# Checks what --json prints against the schemas in docs/schemas. A test sources this file after lib.sh.
# shellcheck shell=bash

schemas=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../docs/schemas")
readonly schemas

# expect_valid SCHEMA COMMAND...: the command prints a document of that schema, which it prints, too.
expect_valid() {
  local schema=$schemas/$1.json output document=${scratch:?call start}/document.json
  shift
  output=$("$@") || fail "'$*' ended with status $?"
  printf '%s\n' "$output" >"$document"
  if type -P jsonschema >/dev/null; then
    jsonschema --instance "$document" "$schema" >"$scratch/complaint" 2>&1 ||
      fail "'$*' is not of schema ${schema##*/}: $(grep --invert-match Warning "$scratch/complaint" | head -n 5)"
  else # its first level at least
    jq --exit-status --slurpfile schema "$schema" \
      '(keys - ($schema[0].properties | keys) == []) and ($schema[0].required - keys == []) and .version == 1' \
      "$document" >/dev/null || fail "'$*' is not of schema ${schema##*/}: $output"
  fi
  printf '%s\n' "$output"
}
