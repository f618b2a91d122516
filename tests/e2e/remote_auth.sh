#!/bin/bash
# Who may have what: keys of clients, rules of exports, keys that change under a mount.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

readonly failed=1 usage=2
keys=$scratch/keys
image=$scratch/image
touch "$image"
tgt=("$RDMABLK_BIN/rdmablk-target" --listen "$address:0" --export disk=memory:1M)

# key_of CLIENT: its key file.
key_of() { echo "$scratch/$1.key"; }

# as CLIENT: the options that prove it.
as() { echo "--keyfile=$(key_of "$1")"; }

# use_keys CLIENT...: the target's key file holds theirs, and no others.
use_keys() {
  local client
  rm -f "$keys.new"
  (umask 077 && for client in "$@"; do cat "$(key_of "$client")"; done >"$keys.new")
  mv "$keys.new" "$keys"
}

# reload: the target has read its keys when it returns.
reload() {
  local before
  before=$(grep --count 'reload: read' "$target_log") || true
  kill -HUP "$target_pid"
  wait_until "the target has read its keys" has_reloaded $((before + 1))
}
has_reloaded() { (($(grep --count 'reload: read' "$target_log") == $1)); }

# names CLIENT: of the exports that it sees, and whether they are read-only.
names() {
  "$rdmablk" list "$target" "$(as "$1")" --json | jq -r '[.exports[] | "\(.name):\(.read_only)"] | join(" ")'
}

# Keys are made for their owner alone, and never twice.
(umask 0 && "$rdmablk" keygen alice --output "$(key_of alice)")
expect_equal "mode of a key file" 600 "$(stat --format %a "$(key_of alice)")"
expect_fail $usage "--output: its value is empty" "$rdmablk" keygen alice --output ""
expect_fail $failed "already" "$rdmablk" keygen alice --output "$(key_of alice)"
expect_fail $usage "'a/b'" "$rdmablk" keygen a/b
"$rdmablk" keygen bob --output "$(key_of bob)"
(umask 077 && "$rdmablk" keygen >"$(key_of nameless)")
expect_match "a key" '^rdmablk-key-1:[0-9a-f]{64}$' "$(cat "$(key_of nameless)")"
use_keys alice bob

# What a target does not start with.
expect_fail $usage "exclude each other" "${tgt[@]}" --auth "$keys" --insecure
expect_fail $usage "'alice'" "${tgt[@]}" --insecure --export sub=memory:1M,allow=alice
expect_fail $usage "allow=CLIENT" "${tgt[@]}" --auth "$keys" --export sub=memory:1M,allow=al/ice
expect_fail $usage "192.0.2.1/24" "${tgt[@]}" --auth "$keys" --export sub=memory:1M,allow=alice@192.0.2.1/24
expect_fail $failed "no such file|No such file" "${tgt[@]}" --auth "$scratch/missing"
expect_fail $failed "no client's name" "${tgt[@]}" --auth "$(key_of nameless)"
chmod 640 "$keys"
expect_fail $failed "mode is 0640" "${tgt[@]}" --auth "$keys"
chmod 600 "$keys"

start_target --log-level trace --auth "$keys" --export disk=memory:16M,allow=alice,allow=bob:ro \
  --export bobs=memory:1M,allow=bob "--export=near=memory:1M,allow=*@$address" \
  "--export=far=memory:1M,allow=*@192.0.2.0/24" --export free=memory:1M
expect_equal "what alice sees" "disk:false free:false near:false" "$(names alice)"
expect_equal "what bob sees" "bobs:false disk:true free:false near:false" "$(names bob)"
expect_fail $failed "no export 'bobs'; those there are: disk, free, near" "$rdmablk" info "$(uri bobs)" "$(as alice)"
expect_fail $failed "no export 'far'" "$rdmablk" info "$(uri far)" "$(as alice)"
expect_fail $failed "read-only for this client" \
  "$rdmablk" bench "$(uri disk)" "$(as bob)" --rw write --time 0.1
"$rdmablk" bench "$(uri disk)" "$(as bob)" --rw read --time 0.1 >/dev/null
"$rdmablk" info --can write "$(uri disk)" "$(as alice)" || fail "alice can write"

# Who is not let in, and who does not go in.
"$rdmablk" keygen alice --output "$(key_of wrong)"
expect_fail $failed "as client 'alice': not authorized; the target's key file .--auth. has no line of this client with this key" \
  "$rdmablk" list "$target" "$(as wrong)"
expect_fail $failed "as client 'mallory': not authorized" "$rdmablk" list "$target" "$(as nameless)" --client mallory
expect_fail $failed "not authorized" "$rdmablk" mount "$(uri disk)" "$image" -o "keyfile=$(key_of wrong)"
expect_fail $failed "asks who this is.*--keyfile" "$rdmablk" list "$target"
expect_fail $failed "asks who this is.*keyfile=" "$rdmablk" mount "$(uri disk)" "$image"
expect_fail $usage "--keyfile" "$rdmablk" list "$target" --client alice
expect_fail $usage "keyfile=" "$rdmablk" mount "$(uri disk)" "$image" -o client=alice
expect_fail $failed "'alice'" "$rdmablk" list "$target" "$(as alice)" --client bob
chmod 604 "$(key_of bob)"
expect_fail $failed "mode is 0604" "$rdmablk" list "$target" "$(as bob)"
chmod 600 "$(key_of bob)"
# logs PATTERN: the target does, or has.
logs() { wait_until "the target logs '$1'" grep --quiet --extended-regexp "$1" "$target_log"; }
logs "did not prove that it is client 'alice', which has another key in the key file: both ends need the same line"
logs "did not prove that it is client 'mallory', which there is not in the key file: add its line"
logs "the initiator reports an error: .* it asks who this is; give --keyfile FILE"

# A key changes under a mount: both are good for a while, then the new one alone.
mount_export disk "$image" -o "keyfile=$(key_of alice)"
dd if=/dev/urandom of="$image" bs=1M count=4 oflag=direct conv=notrunc status=none
sum=$(sha256 "$image")
mv "$(key_of alice)" "$(key_of old)"
"$rdmablk" keygen alice --output "$(key_of alice)"
use_keys old alice bob
reload
names old >/dev/null || fail "the old key is not good any more"
names alice >/dev/null || fail "the new key is not good"
use_keys alice bob
reload
expect_fail $failed "not authorized" "$rdmablk" list "$target" "$(as old)"
expect_equal "what was written before" "$sum" "$(sha256 "$image")"
dd if="$image" of=/dev/null bs=1M iflag=direct status=none

# Whoever is thrown out is gone; and comes back, when it is let in again, with the key that it has then.
use_keys # nobody
reload
wait_until "the session ends" grep --quiet "client 'alice' was removed from the keys" "$target_log"
"$rdmablk" keygen alice --output "$(key_of next)"
mv "$(key_of next)" "$(key_of alice)"
use_keys alice bob
reload
expect_equal "what was written before" "$sum" "$(sha256 "$image")"

# Nobody else gets to see a key.
daemon=$(daemon_of "$image")
for client in alice bob old; do
  hex=$(sed 's/.*rdmablk-key-1://' "$(key_of "$client")")
  # shellcheck disable=SC2001,SC2059 # the bytes are the format
  base64=$(printf "$(sed 's/../\\x&/g' <<<"$hex")" | base64 --wrap 0)
  for text in "$hex" "$base64"; do
    for file in "$target_log" "/proc/$target_pid/cmdline" "/proc/$target_pid/environ" \
      "/proc/$daemon/cmdline" "/proc/$daemon/environ" /proc/self/mountinfo; do
      ! grep --quiet --text --ignore-case --fixed-strings -- "$text" "$file" || fail "$file shows the key of $client"
    done
  done
done
unmount_export "$image"

# A reload that cannot be leaves things as they are.
echo nonsense >>"$keys"
kill -HUP "$target_pid"
wait_until "the target refuses its keys" grep --quiet 'line 3 .*the keys stay as they were' "$target_log"
names alice >/dev/null || fail "the keys did not stay as they were"
stop_target

# Without keys: nobody is asked, and whoever has a key does not talk to just anybody.
start_target --export disk=memory:1M --export "far=memory:1M,allow=*@192.0.2.0/24"
expect_fail $failed "does not prove who it is" "$rdmablk" list "$target" "$(as alice)"
logs "the initiator reports an error: .* it runs with --insecure .then leave the key file out"
expect_equal "what a stranger sees" "disk" "$("$rdmablk" list "$target" --json | jq -r '.exports[].name')"
kill -HUP "$target_pid"
wait_until "there is nothing to reload" grep --quiet 'nothing to read again' "$target_log"
stop_target
