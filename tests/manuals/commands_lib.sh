# What commands rdmablk has, as --help tells. A test sources this file; RDMABLK_BIN is where the programs lie.
# shellcheck shell=bash

# commands_of [COMMAND...]: prints the commands below a command line, with all that there are below these, a line
# each: "export", "export add".
commands_of() {
  local -a command=("$@")
  local name
  "${RDMABLK_BIN:?}/rdmablk" "${command[@]}" --help |
    awk '/^Subcommands:/ { listed = 1; next } /^[^ ]/ { listed = 0 } listed && /^  [a-z]/ { print $1 }' |
    while read -r name; do
      printf '%s\n' "${command[*]}${command[*]:+ }$name"
      commands_of "${command[@]}" "$name"
    done
}

# commands_with_json: prints those that have --json.
commands_with_json() {
  local -a command
  while read -ra command; do
    grep -q '^  --json ' < <("$RDMABLK_BIN/rdmablk" "${command[@]}" --help) && printf '%s\n' "${command[*]}"
  done < <(commands_of)
  return 0
}
