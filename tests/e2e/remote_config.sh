#!/bin/bash
# A target that is configured by files, what --check-config says of them, and peers that are older.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
start_remote

config=$scratch/target.toml
tgt=("$RDMABLK_BIN/rdmablk-target" --config "$config")
chmod 0711 "$scratch" # another user finds the way to the files
truncate --size=1M "$scratch/disk.img"
chmod 0600 "$scratch/disk.img"

write_config() { cat >"$config"; }

# expect_check STATUS PATTERN [ARGUMENT...]: what --check-config prints, all of it, matches.
expect_check() {
  local expected=$1 pattern=$2 output status=0
  shift 2
  output=$("${tgt[@]}" --check-config "$@" 2>&1) || status=$?
  expect_equal "exit status of --check-config $* ($output)" "$expected" "$status"
  expect_match "what --check-config $* printed" "$pattern" "$output"
}

write_config <<END
insecure = true
slot_size = "64K"
pidfile = "$scratch/target.pid"
[export.disk]
type = "file"
path = "$scratch/disk.img"
END
mkdir "$scratch/target.d"
cat >"$scratch/target.d/more.toml" <<END
slots = 16
[export.more]
type = "memory"
size = "4M"
END

# The files say what is served, also while somebody looks at them.
start_target --config "$config"
expect_equal "the exports" "disk more" "$("$rdmablk" list "$target" --json | jq -r '[.exports[].name] | sort | join(" ")')"
expect_equal "what the pidfile says" "$target_pid" "$(cat "$scratch/target.pid")"
expect_check 0 "ok: export 'disk': its file $scratch/disk.img can be read and written"
expect_fail 1 "pidfile $scratch/target.pid is that of process $target_pid, which runs" "${tgt[@]}" --listen "$address:0"
stop_target
[[ ! -e $scratch/target.pid ]] || fail "the pidfile is left"

# What may not be opened is told, and by whom: nothing is made or changed.
before=$(stat --format '%n %s %y' "$scratch"/*)
expect_check 1 "cannot open it for writing: Permission denied" --as-user nobody
expect_check 1 "make the file of export 'new' in $scratch: Permission denied" --as-user nobody \
  --export "new=file:$scratch/new.img,size=1M"
expect_check 0 "ok: export 'new': its file $scratch/new.img can be made" --export "new=file:$scratch/new.img,size=1M"
expect_check 1 "no user 'nobody-else'" --as-user nobody-else
expect_equal "what is there" "$before" "$(stat --format '%n %s %y' "$scratch"/*)"
chmod 0644 "$config"
chmod 0600 "$scratch/target.d/more.toml"
expect_check 2 "^rdmablk-target: $scratch/target.d/more.toml: cannot use the configuration file: Permission denied" --as-user nobody

# All that is wrong, with places, and no start.
write_config <<END
insecure = true
slot_sise = "64K"
slots = 0
END
expect_check 2 "^rdmablk-target: $config:2:1: unknown key 'slot_sise'; do you mean 'slot_size'\?
rdmablk-target: $config:3:9: slots takes a number from 1 to 1024, not '0'$"
status=0
"${tgt[@]}" --listen "$address:0" 2>"$scratch/log" || status=$?
expect_equal "exit status of a target with a broken configuration" 2 "$status"
expect_equal "lines that it prints" 2 "$(wc --lines <"$scratch/log")"

# Either end plays an older one.
touch "$scratch/image"
works_between() {
  start_target --export more=memory:4M "${@:2}"
  mount_export more "$scratch/image" -o "mask_features=$1"
  head --bytes=1M /dev/urandom >"$scratch/data"
  dd if="$scratch/data" of="$scratch/image" bs=64K conv=notrunc oflag=direct status=none
  expect_equal "content with features masked" "$(sha256 "$scratch/data")" "$(sha256 "$scratch/image" 0 1M)"
  unmount_export "$scratch/image"
  stop_target
}
works_between all
works_between 0 --mask-features all
works_between 0xFFFFFFFFFFFFFFFF --mask-features resize,0x8000

# A reload makes nothing smaller, unless it is told that what is cut off may go. Memory keeps its content.
sized_config() {
  write_config <<END
insecure = true
admin_socket = "$scratch/socket"
$2
[export.shrinking]
type = "memory"
size = "$1"
END
}
reload() { "$rdmablk" reload --socket "$scratch/socket"; }
size_of() { "$rdmablk" export ls --socket "$scratch/socket" --json | jq -r '.exports[] | select(.name == "shrinking").size_bytes'; }
rm --recursive "$scratch/target.d"
sized_config 4M ""
start_target --config "$config"
head --bytes=4M /dev/urandom >"$scratch/data"
"$rdmablk" copy "$scratch/data" "$(uri shrinking)" --quiet
sized_config 1M ""
expect_fail 1 "'shrinking' stays at 4 MiB, and 1 MiB is asked for.*--discard shrinking" reload
expect_equal "the size after a reload that may not shrink" 4194304 "$(size_of)"
expect_equal "the content" "$(sha256 "$scratch/data")" "$("$rdmablk" copy "$(uri shrinking)" - --quiet | sha256sum | cut --delimiter=' ' --fields=1)"
sized_config 1M 'discard = ["other"]'
expect_fail 1 "'shrinking' stays at 4 MiB" reload
sized_config 1M 'discard = ["shrinking"]'
reload || fail "a reload that may shrink is refused"
expect_equal "the size after one that may" 1048576 "$(size_of)"
expect_equal "the content that is left" "$(sha256 "$scratch/data" 0 1M)" "$("$rdmablk" copy "$(uri shrinking)" - --quiet | sha256sum | cut --delimiter=' ' --fields=1)"
stop_target

# The check finds what a start refuses.
refused_by_both() {
  expect_check 1 "$1"
  expect_error "$1" "${tgt[@]}" --listen "$address:0"
}
write_config <<END
insecure = true
admin_socket = "$scratch/none/socket"
[export.m]
type = "memory"
size = "1M"
END
refused_by_both "cannot listen for administrators at '$scratch/none/socket'.*No such file or directory"
write_config <<END
insecure = true
listen = "192.0.2.77"
[export.m]
type = "memory"
size = "1M"
END
expect_check 1 "cannot listen on (TCP )?192.0.2.77:0: .*rdmablk devices"
expect_error "cannot listen on (TCP )?192.0.2.77:1081[23]: .*rdmablk devices" "${tgt[@]}"
write_config <<END
insecure = true
[export.a]
type = "file"
path = "$scratch/twice.img"
size = "1M"
[export.b]
type = "file"
path = "$scratch/twice.img"
size = "1M"
END
refused_by_both "exports 'a' and 'b' are of one file"
write_config <<END
insecure = true
admin_socket = 3
END
expect_check 2 "$config:2:16: admin_socket takes a text, not an integer"
