# What a running target has, to be compared with what it has later. A test sources this file in place of
# remote_lib.sh.
# shellcheck shell=bash
# shellcheck source=tests/e2e/remote_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/remote_lib.sh"

# counts: what the target says it has, without what changes by itself.
counts() {
  local known
  known=$(grep --count 'counts: ' "$target_log" || true)
  kill -USR1 "$target_pid"
  told() { (($(grep --count 'counts: ' "$target_log") > known)); }
  wait_until "the target tells its counts" told
  grep 'counts: ' "$target_log" | tail -n 1 | sed 's/.*counts: //'
}

# left: what there is, by the target's word and by the kernel's. @return on standard output.
left() {
  local told
  told=$(counts)
  echo "$told"
  echo "descriptors: $(find "/proc/$target_pid/fd" -mindepth 1 | wc -l)"
  [[ -z ${RDMABLK_IN_VM:-} ]] ||
    echo "device: $(rdma --json resource show | jq --compact-output '.[0] | {qp, mr, pd, cm_id}')"
  echo "processes: $(daemons)"
  echo "mounts: $(mounts_of 'rdmablk')"
}
