#!/bin/bash
# What every command prints with --json is of the schema in docs/schemas that is said to describe it.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/schema_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/schema_lib.sh"
# shellcheck source=tests/manuals/commands_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../manuals/commands_lib.sh"
start_remote

checked=
# check SCHEMA COMMAND [ARGUMENT...]: COMMAND, which may be of two words, prints a document of the schema.
check() {
  local schema=$1 words
  read -ra words <<<"$2"
  expect_valid "$schema" "$rdmablk" "${words[@]}" "${@:3}" --json >/dev/null
  checked+=$2$'\n'
}
# check_admin SCHEMA COMMAND [ARGUMENT...]: the same of one that asks the target's socket.
check_admin() { check "$@" --socket "$scratch/run/target.sock"; }

# diagnose ARGUMENT...: rdmablk doctor, which ends with 1 where something is missing.
diagnose() { "$rdmablk" doctor "$@" || (($? == 1)); }

start_target --export disk=memory:8M --export "file=file:$scratch/file.img,size=4M,sparse"

# What asks a target.
check devices devices
check list list "$target"
check info info "$(uri disk)"
check info info "$(uri file)"
check info-size info "$(uri disk)" --size
check info-can info "$(uri disk)" --can write
check info-map info "$(uri file)" --map
check bench bench "$(uri disk)" --rw randrw --time 0.1
check bench bench "$(uri disk)" --rw read --time 0.1
expect_valid doctor diagnose "$target" --json >/dev/null
checked+=doctor$'\n'
check fill fill "$(uri disk)" --random --verify --quiet
check fill zero "$(uri file)" --discard --quiet
check copy copy "$(uri disk)" "$scratch/copy.img" --quiet

# What asks a mount.
mount_point=$scratch/image
touch "$mount_point"
mount_export disk "$mount_point" -o workers=1
check timeouts timeouts "$mount_point"
check mounts mounts
check_admin top top --once --delay 0.1

# What asks, and changes, the target of this machine.
check_admin status status
check_admin export-ls "export ls"
check_admin session-ls "session ls"
check_admin change "export add" more=memory:1M --runtime
check_admin change "export resize" more 2M --runtime
check_admin change "export rm" more --runtime --discard
check_admin change reload
check_admin change "session evict" "$("$rdmablk" session ls --json --socket "$scratch/run/target.sock" | jq '.sessions[0].session')"
unmount_export "$mount_point"

# Block devices, where they can be made.
if [[ -c /dev/loop-control && $EUID == 0 ]]; then
  trap '"$rdmablk" unmap --force --if-mapped "$(uri disk)"; finish' EXIT
  printf 'json-%s %s\n' "$$" "$(uri disk)" >"$scratch/maptab"
  check map-list map --all --maptab "$scratch/maptab"
  check map map --refresh "json-$$"
  check map-list map --list
  "$rdmablk" unmap "json-$$"
  check map map "$(uri disk)"
  "$rdmablk" unmap "$(uri disk)"
else
  checked+=map$'\n'
fi
stop_target

expect_equal "commands with --json that were not checked" "" \
  "$(RDMABLK_BIN=$tools commands_with_json | grep --invert-match --line-regexp --fixed-strings --file <(printf '%s' "$checked") || true)"
