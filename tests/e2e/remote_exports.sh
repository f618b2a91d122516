#!/bin/bash
# Exports that come to a running target, and leave it, while another one is under load: who has that one does
# not notice, a failure leaves nothing, what was written is where it belongs, and at the end the target has what
# it had before.
# shellcheck source=tests/e2e/counts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/counts_lib.sh"
start_remote
socket=$scratch/run/target.sock
image=$scratch/image
steady=$scratch/steady
touch "$image" "$steady"

# admin WORD...: rdmablk with the words, to this target.
admin() { "$rdmablk" "$@" --socket "$socket"; }
add() { admin export add "$1" --runtime || fail "cannot add $1"; }
identity() { "$rdmablk" info "$(uri "$1")" --json | jq --raw-output .uuid; }
names() { admin export ls --json | jq --raw-output '[.exports[].name] | sort | join(" ")'; }

# spec_of KIND: an export "new" of that kind.
spec_of() {
  case $1 in
    memory) echo "new=memory:8M,chunk=4M" ;;
    file) echo "new=file:$scratch/new.img,size=8M" ;;
    resident) echo "new=file:$scratch/new.img,size=8M,resident,chunk=4M" ;;
    saved) echo "new=memory:8M,save=$scratch/saved.img" ;;
  esac
}

# write_to PATH [DD-ARGUMENT...]: $scratch/data, to stable storage.
write_to() { dd if="$scratch/data" of="$1" bs=1M conv=notrunc,fsync oflag=direct status=none "${@:2}"; }

# The other one's load, verified, for as long as all the rest takes.
start_target --keepalive 1 --export steady=memory:16M,chunk=4M
mount_export steady "$steady"
(cd "$scratch" && while [[ ! -e $scratch/enough ]]; do
  fio --name=steady --filename="$steady" --size=16M --direct=1 --verify=crc32c --verify_fatal=1 \
    --ioengine=libaio --iodepth=4 --rw=randwrite --bs=4k --io_size=4M --loops=1 || exit 1
  echo round >>"$scratch/rounds"
done) >"$scratch/fio" 2>&1 &
load=$!
test_pids+=("$load")
has_load() { [[ -s $scratch/rounds ]] || ! is_running "$load"; }
wait_until "the other export is under load" has_load
head --bytes=8M /dev/urandom >"$scratch/data"

# round KIND: one comes, is used, is refused to go while it is, and goes.
round() {
  local kind=$1
  add "$(spec_of "$kind")"
  expect_equal "exports" "new steady" "$(names)"
  mount_export new "$image" --give-up 30
  write_to "$image"
  expect_fail 1 "is in use, by 1 attachment" admin export rm new
  unmount_export "$image"
  if [[ $kind == memory ]]; then
    expect_fail 1 "has data in its memory that nothing else has" admin export rm new
    admin export rm new --discard || fail "cannot remove a memory export"
  else
    admin export rm new || fail "cannot remove a $kind export"
  fi
  expect_equal "exports" steady "$(names)"
  case $kind in
    file | resident)
      cmp "$scratch/data" "$scratch/new.img" || fail "$kind: the file lacks what was written"
      flock --nonblock "$scratch/new.img" true || fail "$kind: its file is still locked"
      ;;
    saved) cmp "$scratch/data" "$scratch/saved.img" || fail "it was not saved" ;;
  esac
}

# What is opened once and kept: the I/O threads.
round file
before=
has_settled() {
  local now
  now=$(left)
  [[ $now == "$before" && $now == *'sessions=1 '*'draining=0 '* ]] && return
  before=$now
  return 1
}
wait_until "the first one is gone" has_settled
for kind in memory file resident saved; do round "$kind"; done

# A file that goes and comes again is the same to who had it: the mount goes on.
add "$(spec_of file)"
known=$(identity new)
mount_export new "$image" --give-up 60 --reconnect-delay 0.2
write_to "$image"
admin export rm new --force || fail "cannot remove an export that is mounted"
expect_fail 1 "no export 'new'" "$rdmablk" info "$(uri new)"
head --bytes=8M /dev/urandom >"$scratch/data"
write_to "$image" &
writer=$!
test_pids+=("$writer")
add "$(spec_of file)"
wait "$writer" || fail "a write did not outlast that its export was away"
expect_equal "identity" "$known" "$(identity new)"
unmount_export "$image"
admin export rm new || fail "cannot remove it"
cmp "$scratch/data" "$scratch/new.img" || fail "what was written while it was away is lost"

# Memory that goes is gone: the mount ends with EIO, also when one of the same name comes.
add "$(spec_of memory)"
mount_export new "$image" --give-up 60 --reconnect-delay 0.2
write_to "$image"
admin export rm new --force --discard || fail "cannot remove memory that is mounted"
add "$(spec_of memory)"
expect_error "Input/output error" write_to "$image"
"$rdmablk" unmount "$image" || fail "cannot unmount"
admin export rm new || fail "cannot remove what nobody could write to"

# Nobody comes back within the time: EIO.
add "$(spec_of memory)"
mount_export new "$image" --give-up 0.5 --reconnect-delay 0.2
admin export rm new --force || fail "cannot remove it"
expect_error "Input/output error" write_to "$image"
"$rdmablk" unmount "$image" || fail "cannot unmount"

# A failure leaves nothing.
expect_fail 1 "there is an export 'steady' already" admin export add steady=memory:1M --runtime
expect_fail 1 "more than the" admin export add new=memory:1000T --runtime
expect_fail 1 "cannot open its directory" admin export add "new=file:$scratch/none/x.img,size=1M" --runtime
expect_fail 1 "there is no such file" admin export add "new=file:$scratch/none.img" --runtime
add "$(spec_of file)"
expect_fail 1 "are of one file" admin export add "other=file:$scratch/new.img" --runtime
expect_equal "exports" "new steady" "$(names)"

# What was added for this run alone stays when the rest is read again.
admin reload || fail "cannot reload"
expect_equal "exports" "new steady" "$(names)"
admin export rm new || fail "cannot remove it"

# A failure to bring the data to its file keeps the export.
add "$(spec_of saved)"
mount_export new "$image"
write_to "$image"
unmount_export "$image"
rm "$scratch/saved.img"
mkdir "$scratch/saved.img"
expect_fail 1 "stays, and is offered again" admin export rm new
rmdir "$scratch/saved.img"
mount_export new "$image" -o ro
cmp "$scratch/data" "$image" || fail "an export that stayed has not what it had"
unmount_export "$image"
admin export rm new || fail "cannot remove it when the cause is gone"
cmp "$scratch/data" "$scratch/saved.img" || fail "it was not saved"

nothing_left() { [[ $(left) == "$before" ]]; }
(wait_until "nothing is left" nothing_left) ||
  fail "this was there before, and that is there now: $(diff <(echo "$before") <(left))"
touch "$scratch/enough"
wait "$load" || fail "the other export's load: $(tail -n 20 "$scratch/fio")"
expect_equal "its outages" 0 "$("$rdmablk" timeouts "$steady" --json | jq .reconnects)"
unmount_export "$steady"

# A target that is told to end while one is being made ends, and in order.
admin export add "new=memory:64M" --runtime >"$scratch/added" 2>&1 &
adding=$!
test_pids+=("$adding")
stop_target
wait "$adding" || true
