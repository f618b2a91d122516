#!/bin/bash
# What a target has that gets other sizes, comes and goes, is there after it was restarted, also in the middle
# of that: memory that a service manager keeps, and memory that is saved to a file.
# shellcheck source=tests/e2e/keeper_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/keeper_lib.sh"
start_remote

readonly MiB=$((1 << 20))
config=$scratch/target.toml
socket=$scratch/run/target.sock
image=$scratch/image
touch "$image"

# admin WORD...: rdmablk with the words, to this target.
admin() { "$rdmablk" "$@" --socket "$socket"; }
reload() { admin reload || fail "cannot reload"; }

# configure DISK [SAVED [SAVE]]: the exports that are asked for, in MiB; "-" is none.
configure() {
  {
    [[ $1 == - ]] || printf '[export.disk]\ntype = "memory"\nsize = "%sM"\nchunk = "1M"\n' "$1"
    [[ ${2:--} == - ]] || printf '[export.saved]\ntype = "memory"\nsize = "%sM"\nchunk = "1M"\nsave = "%s"\n' \
      "$2" "${3:-$scratch/saved.img}"
  } >"$config"
}

size_of() { "$rdmablk" info --size "$(uri "$1")"; }
has_size() { [[ $(stat --format %s "$image") == $(($1 * MiB)) ]]; }
await_size() { wait_until "the mount has $1 MiB" has_size "$1"; }

# write_at MIB [COUNT]: random bytes to the mount and to $scratch/data, which is what the mount is to be.
write_at() {
  head --bytes=$((${2:-1} * MiB)) /dev/urandom >"$scratch/piece"
  dd if="$scratch/piece" of="$scratch/data" bs=1M seek="$1" conv=notrunc status=none
  dd if="$scratch/piece" of="$image" bs=1M seek="$1" conv=notrunc oflag=direct status=none
}
expect_data() { cmp "$scratch/data" "$1" || fail "$1 is not what was written"; }
resize_data() { truncate --size="$1M" "$scratch/data"; }

# attach EXPORT: a mount that waits for targets to come back, of what is in $scratch/data from here on.
attach() {
  mount_export "$1" "$image" --give-up 60 --reconnect-delay 0.2
  cp --sparse=never "$image" "$scratch/data"
}

choose_port
configure 4
start_keeper --config "$config"

# Memory that grew, and was written to there, is all there after any end; what was cut off is not.
attach disk
write_at 0 4
admin export resize disk 8M --runtime || fail "cannot resize"
await_size 8
resize_data 8
write_at 7
for signal in KILL TERM; do
  restart_target "$signal"
  expect_data "$image"
done
grep --quiet "'disk'.*was resized to 8 MiB.*configured with 4 MiB" "$target_log" || fail "nothing is said of the size"
admin export resize disk 6M --runtime --shrink || fail "cannot resize"
await_size 6
resize_data 6
configure 8
restart_target KILL
expect_data "$image"
reload
await_size 8
resize_data 8
expect_data "$image"
unmount_export "$image"

# Restarts in the middle of a change leave the one or the other.
attach disk
begun() { grep --count "'disk': is being resized" "$target_log" || true; }
has_begun() { (($(begun) > $1)) || ! is_running "$changing"; }
for round in KILL:48 TERM:8 KILL:64 KILL:8 TERM:56 TERM:8; do
  old=$(($(size_of disk) / MiB))
  new=${round#*:}
  before=$(begun)
  admin export resize disk "${new}M" --runtime --shrink >"$scratch/changed" 2>&1 &
  changing=$!
  test_pids+=("$changing")
  wait_until "the change begins" has_begun "$before"
  restart_target "${round%:*}"
  wait "$changing" || true
  now=$(($(size_of disk) / MiB))
  [[ $now == "$old" || $now == "$new" ]] || fail "it has $now MiB, and was to have $old or $new"
  admin export resize disk "${new}M" --runtime --shrink || fail "cannot resize after a restart"
  await_size "$new"
  resize_data "$new"
  expect_data "$image"
  write_at $((new - 1))
done
unmount_export "$image"

# So do restarts while exports come, go, and are asked for anew.
attach disk
for signal in KILL TERM KILL TERM; do
  admin export add "guest=memory:16M,save=$scratch/guest.img" >"$scratch/changed" 2>&1 &
  changing=$!
  test_pids+=("$changing")
  reload
  restart_target "$signal"
  wait "$changing" || true
  admin export rm guest >"$scratch/changed" 2>&1 &
  changing=$!
  restart_target "$signal"
  wait "$changing" || true
  expect_data "$image"
  admin export rm guest >/dev/null 2>&1 || true
done
unmount_export "$image"

# What was added for as long as the target runs, and is configured by now, is kept from then on.
admin export add late=memory:2M --runtime || fail "cannot add"
attach late
write_at 0 2
printf '[export.late]\ntype = "memory"\nsize = "2M"\n' >>"$config"
reload
for signal in KILL TERM; do
  restart_target "$signal"
  expect_data "$image"
done
unmount_export "$image"
stop_keeper

# A save has all that there was, at the size that there was.
configure - 4
start_keeper --config "$config"
attach saved
write_at 0 4
configure - 6
reload
await_size 6
resize_data 6
write_at 5
stop_keeper
expect_data "$scratch/saved.img"
start_keeper --config "$config"
expect_data "$image"
admin export resize saved 3M --runtime --shrink || fail "cannot resize"
await_size 3
resize_data 3
write_at 2
for signal in KILL TERM KILL; do
  restart_target "$signal"
  expect_data "$image"
done
stop_keeper
expect_data "$scratch/saved.img"
start_keeper --config "$config" # where it is 6 MiB
expect_data "$image"
grep --quiet "'saved'.*was resized to 3 MiB.*configured with 6 MiB" "$target_log" || fail "nothing is said of the size"

# Nothing asks for it any more, and something does again: whoever has it goes on.
cp "$config" "$scratch/with-saved.toml"
configure 1
reload
expect_data "$scratch/saved.img"
restart_target TERM
cp "$scratch/with-saved.toml" "$config"
printf '[export.disk]\ntype = "memory"\nsize = "1M"\nchunk = "1M"\n' >>"$config"
reload
expect_data "$image"
write_at 1
for signal in KILL TERM; do
  restart_target "$signal"
  expect_data "$image"
done

# It is to be saved elsewhere.
configure 1 3 "$scratch/elsewhere.img"
expect_fail 1 "'saved' stays as it is: what changed \(save\)" admin reload
write_at 0
restart_target TERM
expect_data "$image"
write_at 0
restart_target KILL
expect_data "$image"
stop_keeper
expect_data "$scratch/elsewhere.img"
start_keeper --config "$config"
expect_data "$image"
unmount_export "$image"
stop_keeper
