#!/bin/bash
# A session with several paths, over two software devices: queues are spread over those that work, what each
# carries shows, and one where nobody answers is left out until somebody does.
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"
# shellcheck source=tests/e2e/schema_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/schema_lib.sh"
# shellcheck source=tests/e2e/watch_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/watch_lib.sh"

paths() { "$rdmablk" mounts --json | jq --arg at "$image" --compact-output '.mounts[] | select(.mount_point == $at) | .paths'; }
has_paths() { [[ $(paths | jq "$1") == true ]]; }

[[ ${SOFTVERBS_DEVICES:-} == 2 ]] || skip "it takes two software devices"
start_remote
address=0.0.0.0
start_target --export "$(export_spec disk 64M)"
port=${target##*:}
target=127.0.0.1:$port
image=$scratch/image
touch "$image"

mount_image --metrics 0 "$(uri disk)" "$image" --path "127.0.0.2:$port" --path 127.0.0.1:1 --workers 3 \
  2>"$scratch/mount.log"
expect_equal "the paths" '["127.0.0.1:'"$port"'","soft0",true] ["127.0.0.2:'"$port"'","soft1",true] ["127.0.0.1:1","soft0",false]' \
  "$(paths | jq --raw-output 'map([.address, .device // "", .up] | tojson) | join(" ")')"
has_paths '[.[].queues] | add == 3' || fail "not every queue has a path: $(paths)"
has_paths '.[0].queues > 0 and .[1].queues > 0 and .[2].queues == 0' || fail "the queues are not spread: $(paths)"
has_paths '.[2].last_error | test("listen")' || fail "it does not say what is wrong: $(paths)"
verify_with_fio "$image" 16M --ioengine=libaio --iodepth=16 --rw=randwrite --bsrange=512-256k --blockalign=512 \
  --numjobs=4 --offset_increment=16M
has_paths '.[0:2] | all(.bytes_read > 0 and .bytes_written > 0)' || fail "not both carry bytes: $(paths)"
written=$(paths | jq 'map(.bytes_written) | add')
((written >= 64 << 20)) || fail "of 64 MiB, the paths have carried $written bytes"

expect_valid mounts "$rdmablk" mounts --json >/dev/null
expect_valid top "$rdmablk" top --once --json --delay 0.1 >"$scratch/top.json"
expect_equal "the paths that top shows" "3" "$(jq --arg at "$image" '.paths | map(select(.name | startswith($at + " over "))) | length' "$scratch/top.json")"
"$rdmablk" mounts | grep --quiet "$image  *127.0.0.2:$port  *soft1  *up" || fail "the table lacks the paths: $("$rdmablk" mounts)"
metrics=$(curl --silent "http://$(metrics_address "$scratch/mount.log")/metrics")
for device in soft0 soft1; do
  grep --quiet "^rdmablk_path_bytes_total{.*device=\"$device\",direction=\"write\".*} [1-9]" <<<"$metrics" ||
    fail "no bytes of $device: $(grep path <<<"$metrics")"
done

"$rdmablk" bench "$(uri disk)" --path "127.0.0.2:$port" --time 0.2 --rw read >/dev/null || fail "bench takes no path"
unmount_export "$image"

# A target that does not know of paths gets all queues one way, and the log says so once.
mount_image_logging "$scratch/mount.log" "$(uri disk)" "$image" --path "127.0.0.2:$port" --workers 2 -o mask_features=paths
expect_equal "the queues" "2 0" "$(paths | jq --raw-output 'map(.queues) | join(" ")')"
expect_equal "lines about that" 1 "$(grep --count 'one path at a time' "$scratch/mount.log")"
unmount_export "$image"
stop_target
