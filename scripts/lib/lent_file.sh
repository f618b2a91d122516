# Starts a target that lends something, and mounts it as a file; takes both away again.
# shellcheck shell=bash
# shellcheck disable=SC2034 # the caller reads what is set here
# shellcheck disable=SC2154 # runner, address and device: choose_device sets them; bin: the caller
#
# The caller sets `bin`, the directory of the programs, and `workspace`, a directory for the logs
# target.log, mount.log and fio.log and for the mount point. Set here: `target`, the target's
# process; `mounted`, the file; each is empty when there is none.

target='' mounted=''

# target_command NAME=TYPE:ARG[,...] [OPTION...]: puts the command of a target into the array
# `command`. It listens on a free port, so as not to be in the way of another one.
target_command() {
  command=("${runner[@]}" "$bin/rdmablk-target" --export "$1" --listen "$address:0"
    --device "$device" --insecure --state-dir "$workspace/state" "${@:2}")
}

# launch_target COMMAND...: returns when it listens. It runs in a session of its own, so that Ctrl-C
# ends it only after the unmount.
launch_target() {
  : >"$workspace/target.log" # an earlier target's would pass for this one's
  setsid "$@" </dev/null >"$workspace/target.log" 2>&1 &
  target=$!
  await_target
}

await_target() {
  local attempts=300
  until grep --quiet 'listening on' "$workspace/target.log"; do
    kill -0 "$target" 2>/dev/null || die "the target ended at its start"
    ((attempts-- > 0)) || die "the target is not ready after 30 seconds"
    sleep 0.1
  done
}

# target_uri NAME: of an export of the running target.
target_uri() {
  echo "rdmablk://$(sed -n 's/.*listening on \([^ ,;]*\).*/\1/p;T;q' "$workspace/target.log")/$1"
}

# mount_command NAME: puts the command that mounts an export into the array `command`.
mount_command() { command=("${runner[@]}" "$bin/rdmablk" mount "$(target_uri "$1")" "$workspace/$1"); }

# launch_mount COMMAND...: the last argument is the mount point.
launch_mount() {
  : >"${*: -1}"
  "$@" </dev/null >"$workspace/mount.log" 2>&1 || die "the mount failed"
  mounted=${*: -1}
}

unmount_export() {
  [[ -n $mounted ]] || return 0
  "${runner[@]}" "$bin/rdmablk" unmount "$mounted" || fusermount3 -u -z "$mounted" || true
  mounted=''
}

stop_target() {
  [[ -n $target ]] || return 0
  kill "$target" 2>/dev/null || true
  wait "$target" 2>/dev/null || true
  target=''
}

# What the programs said last, for when something failed.
show_logs() {
  local log
  for log in target mount fio; do
    [[ ! -s $workspace/$log.log ]] || tail -n 20 "$workspace/$log.log" | sed "s/^/    $log: /" >&2
  done
}
