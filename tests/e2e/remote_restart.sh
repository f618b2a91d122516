#!/bin/bash
# What a restart of the target leaves of exports: their identity, when nothing can be missing, and another
# generation when something may be.
# shellcheck source=tests/e2e/keeper_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/keeper_lib.sh"
start_remote
disks=$scratch

exports=(--export "disk=file:$scratch/disk.img,size=2M" --export "loaded=file:$scratch/loaded.img,size=2M,resident"
  --export "rom=file:$scratch/rom.img,readonly" --export "scratch=memory:1M"
  --export "saved=memory:2M,save=$scratch/saved.img")
head --bytes=1M /dev/urandom >"$scratch/rom.img"

# remember: the identities of all exports.
declare -A known
remember() {
  local name
  for name in disk loaded rom scratch saved; do known[$name]=$(identity "$name"); done
}

# state_of EXPORT-FILE: the file of the state directory that is about it.
state_of() { grep --files-with-matches --fixed-strings "\"$1\"" "$scratch"/state/*.json; }

# edit STATE-FILE JQ-EXPRESSION
edit() {
  jq "$2" "$1" >"$scratch/edited"
  cp "$scratch/edited" "$1"
}

start_target "${exports[@]}"
expect_equal "the mode of the state directory" 700 "$(stat --format %a "$scratch/state")"
remember
fill disk
fill loaded
fill saved
stop_target
expect_equal "the size of what was saved" $((2 << 20)) "$(stat --format %s "$scratch/saved.img")"

# In order.
start_target "${exports[@]}"
for name in disk loaded rom saved; do expect_kept "$name" "${known[$name]}"; done
expect_new scratch "${known[scratch]}"
for name in disk loaded saved; do expect_content "$name"; done

# Killed: what is in the kernel's memory remains, and what was in the process's does not.
kill_target
start_target "${exports[@]}"
expect_kept disk "${known[disk]}"
expect_kept rom "${known[rom]}"
expect_new loaded "${known[loaded]}"
expect_new saved "${known[saved]}"
grep --quiet "'saved'.*did not end in order" "$target_log" || fail "nothing is said of the content that was saved before"
for name in disk loaded saved; do expect_content "$name"; done
remember
stop_target

# A planned reboot, then a crash of the host.
state=$(state_of "$scratch/disk.img")
edit "$state" '.boot_id = "another"'
start_target "${exports[@]}"
expect_kept disk "${known[disk]}"
kill_target
edit "$state" '.boot_id = "another"'
start_target "${exports[@]}"
expect_new disk "${known[disk]}"
expect_equal "the UUID of disk" "${known[disk]% *}" "$(identity disk | cut -d ' ' -f 1)"
remember
stop_target

# State that is damaged, or lost.
echo '{"version": 1,' >"$state"
start_target "${exports[@]}"
expect_new disk "${known[disk]}"
grep --quiet "$state.*damaged" "$target_log" || fail "nothing is said of damaged state"
remember
stop_target
rm --recursive "$scratch/state"
start_target "${exports[@]}"
expect_new disk "${known[disk]}"
expect_new loaded "${known[loaded]}"
expect_content disk
remember
stop_target

# Another file in its place.
cp --sparse=always "$scratch/disk.img" "$scratch/copy.img"
mv "$scratch/copy.img" "$scratch/disk.img"
start_target "${exports[@]}"
expect_new disk "${known[disk]}"
[[ ${known[disk]% *} != "$(identity disk | cut -d ' ' -f 1)" ]] || fail "another file has the same UUID"
stop_target

# What cannot be.
target_command=("$RDMABLK_BIN/rdmablk-target" --log-level error --insecure --listen "$address:0")
expect_fail 1 "rom.img/state.*--state-dir" "${target_command[@]}" --state-dir "$scratch/rom.img/state" \
  --export "disk=file:$scratch/disk.img"
expect_error "saved.img was exported with 2097152 bytes before, and is with 1048576 now.*saved.img: it has 2097152 bytes" \
  "${target_command[@]/#error/warning}" --state-dir "$scratch/state" \
  --export "saved=memory:1M,save=$scratch/saved.img"
expect_fail 2 "save.*readonly" "${target_command[@]}" --export "saved=memory:1M,readonly,save=$scratch/saved.img"
expect_fail 1 "cannot succeed process $$" "${target_command[@]}" --succeed $$ --export disk=memory:1M

# A save that fails leaves the one before alone, and is told.
mkdir "$scratch/small"
mount -t tmpfs -o size=3M tmpfs "$scratch/small"
start_target --export "saved=memory:2M,save=$scratch/small/saved.img"
fill saved
stop_target
before=$(sha256 "$scratch/small/saved.img")
start_target --export "saved=memory:2M,save=$scratch/small/saved.img"
fill saved
status=0
kill -TERM "$target_pid"
wait "$target_pid" || status=$?
expect_equal "exit status of a target that cannot save" 1 "$status"
expect_match "what it says" "No space left" "$(cat "$target_log")"
expect_equal "what was saved before" "$before" "$(sha256 "$scratch/small/saved.img")"
expect_equal "files left" "saved.img" "$(ls "$scratch/small")"
umount "$scratch/small"

# What cannot be saved is told at once.
expect_fail 1 "cannot save export 'saved' to $scratch/nowhere/m.img.*No such file" "${target_command[@]}" \
  --state-dir "$scratch/state" --export "saved=memory:1M,save=$scratch/nowhere/m.img"

# Nor is one file for two.
start_target --export "saved=memory:1M,save=$scratch/one.img"
expect_fail 1 "cannot save export 'other' to $scratch/one.img: another target or export saves to it" \
  "${target_command[@]}" --state-dir "$scratch/state2" --export "other=memory:1M,save=$scratch/one.img"
stop_target
truncate --size 1M "$scratch/exported.img"
start_target --export "file=file:$scratch/exported.img"
expect_fail 1 "cannot save export 'other' to $scratch/exported.img: another target or export .*is of it" \
  "${target_command[@]}" --state-dir "$scratch/state2" --export "other=memory:1M,save=$scratch/exported.img"
stop_target
start_target --export "saved=memory:1M,save=$scratch/one.img"
expect_fail 2 "exports 'a' and 'b' are of one file, '$scratch/two.img'.*save= a file of its own" "${target_command[@]}" \
  --state-dir "$scratch/state2" --export "a=memory:1M,save=$scratch/two.img" --export "b=memory:1M,save=$scratch/two.img"

# What a target that was killed in a save leaves locks nobody out, is not loaded, and goes away.
kill_target
echo "half of a save" >"$scratch/one.img.rdmablk-new"
start_target --export "saved=memory:1M,save=$scratch/one.img"
[[ ! -s $scratch/one.img.rdmablk-new ]] || fail "half of a save was not thrown away"
fill saved
stop_target
cmp "$scratch/saved.data" "$scratch/one.img" || fail "what was saved is not what was there"
[[ ! -e $scratch/one.img.rdmablk-new ]] || fail "the file that a save begins in was left"

# A link is followed, not replaced.
ln -s "$scratch/linked.img" "$scratch/link.img"
start_target --export "linked=memory:1M,save=$scratch/link.img"
stop_target
[[ -L $scratch/link.img && -f $scratch/linked.img ]] || fail "the link was replaced: $(ls -l "$scratch"/link*)"
