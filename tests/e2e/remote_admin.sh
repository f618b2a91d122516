#!/bin/bash
# rdmablk status, export, session, reload: what an administrator sees of a running target, and changes there.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/schema_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/schema_lib.sh"
start_remote
socket=$scratch/run/target.sock

# admin WORD...: rdmablk with the words, to this target.
admin() { "$rdmablk" "$@" --socket "$socket"; }
# figure FILTER WORD...: of what the command's --json says.
figure() {
  local filter=$1
  shift
  admin "$@" --json | jq --raw-output "$filter"
}

expect_fail 1 "there is no such socket: is a target running" admin status
start_target --export disk=memory:4M --export "file=file:$scratch/file.img,size=2M"
[[ -S $socket ]] || fail "there is no socket in \$RUNTIME_DIRECTORY"
expect_equal "who may use it" 600 "$(stat --format %a "$socket")"

# What there is.
expect_match "status" $'listening on +'"$target"$'\n.*exports +2, 6 MiB in all' "$(admin status)"
expect_equal "its process" "$target_pid" "$(figure .status.pid status)"
expect_match "exports" $'disk +memory +4 MiB +read-write +0 +0 +command line' "$(admin export ls)"
mount_point=$scratch/image
touch "$mount_point"
mount_export disk "$mount_point" -o workers=1
expect_valid status admin status --json >/dev/null
expect_valid export-ls admin export ls --json >/dev/null
expect_equal "who has it" "0 1" "$(figure '.exports[0] | "\(.readers) \(.writers)"' export ls)"
expect_equal "session" "disk read_write 1" \
  "$(expect_valid session-ls admin session ls --json | jq --raw-output '.sessions[0].attachments[0] | "\(.export) \(.access) \(.queues)"')"
expect_match "sessions" "disk \(rw, 1 queue\)" "$(admin session ls)"

# A session is ended, and comes back.
session=$(figure '.sessions[0].session' session ls)
expect_valid change admin session evict "$session" --reason "for a test" --json >/dev/null
has_reconnected() { [[ $("$rdmablk" timeouts "$mount_point" --json | jq '.state == "connected" and .reconnects > 0') == true ]]; }
wait_until "the mount is back" has_reconnected
grep --quiet "asks: session_evict $session" "$target_log" || fail "the log does not say who ended the session"
expect_fail 1 "there is no session 4000000000" admin session evict 4000000000

# Bad requests change nothing.
expect_fail 1 "without --config: ask for it with --runtime" admin export add more=memory:1M
expect_fail 2 "not a multiple of 512" admin export add more=memory:1 --runtime
expect_fail 2 "EXPORT takes NAME=memory:SIZE" admin export add more
expect_fail 2 "'.more' is not a name of an export" admin export add .more=memory:1M
expect_fail 2 "unknown type 'disk'" admin export add more=disk:1M --runtime
expect_fail 2 "unknown option 'frob'" admin export add more=memory:1M,frob --runtime
expect_fail 2 "'a b' is not a name of an export" admin export rm 'a b'
expect_fail 2 "'a/b' is not a name of an export" admin export resize a/b 1M
expect_fail 2 "SESSION takes a number" admin session evict none
expect_fail 2 "longer than 200 bytes" admin session evict 1 --reason "$(printf '%0201d' 0)"
expect_fail 1 "no export 'none'" admin export rm none
expect_fail 1 "give --shrink" admin export resize disk 1M
expect_fail 2 "SIZE takes bytes" admin export resize disk 1X
expect_fail 2 "SIZE is required" admin export resize disk
expect_fail 2 "unknown option '--frob'" admin export resize disk --frob
expect_fail 2 "which command" "$rdmablk" export
expect_fail 2 "unknown command 'halt'" "$rdmablk" session halt
expect_equal "exports" "disk file" "$(figure '[.exports[].name] | join(" ")' export ls)"

# Whoever is not of the group is kept out; a second target does not take the place.
if chmod 755 "$scratch" && setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
  expect_fail 1 "permission denied: it takes root" setpriv --reuid=65534 --clear-groups "$tools/rdmablk" status --socket "$socket"
fi
expect_fail 1 "cannot listen for administrators at .*process $target_pid listens there" \
  "$RDMABLK_BIN/rdmablk-target" --insecure --export x=memory:1M --listen "$address:0" --admin-socket "$socket" --log-level error

# A target that does not answer is not waited for.
kill -STOP "$target_pid"
wait_until "the target stops" is_stopped "$target_pid"
expect_fail 1 "did not answer within 0.2 s" admin status --timeout 0.2
kill -CONT "$target_pid"
unmount_export "$mount_point"

# It leaves nothing when it ends, and what a dead one has left is replaced.
stop_target
[[ ! -e $socket ]] || fail "the socket is left behind"
start_target --export disk=memory:4M --admin-group root
expect_equal "who may use it" "660 root" "$(stat --format '%a %G' "$socket")"
kill_target
expect_fail 1 "nobody listens: is a target running" admin status
start_target --export disk=memory:4M
expect_equal "its process" "$target_pid" "$(figure .status.pid status)"

# A successor takes the place over.
first=$target_pid
start_target --export disk=memory:4M --succeed "$first"
wait_for_exit "$first" 10 || fail "the predecessor did not end"
expect_equal "the successor answers" "$target_pid" "$(figure .status.pid status)"
stop_target
[[ -z $(ls "$scratch/run") ]] || fail "left behind: $(ls "$scratch/run")"
