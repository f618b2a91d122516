#!/bin/sh
# Programs that nobody here wrote run on the software device.
# usage: tools_test.sh SOFT_DEVICE CASE
set -eu

soft_device=$1
scratch=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

fail() {
  echo "FAILED: $*" >&2
  for file in "$scratch"/*; do
    echo "--- $(basename "$file")" >&2
    cat "$file" >&2
  done
  exit 1
}

expect() { grep -Eq -- "$1" "$2" || fail "no '$1' in $(basename "$2")"; }

# Runs a program of two ends; the client tries again until the server listens.
both_ends() {
  "$soft_device" "$@" >"$scratch/server" 2>&1 &
  server=$!
  tries=0
  until "$soft_device" "$@" 127.0.0.1 >"$scratch/client" 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 500 ] || fail "the client never succeeded: $*"
    kill -0 "$server" 2>/dev/null || fail "the server ended: $*"
  done
  wait "$server" || fail "the server failed: $*"
  server=
}

port=$((20000 + $$ % 10000))
case $2 in
  devices)
    "$soft_device" ibv_devices >"$scratch/out" 2>&1 || fail ibv_devices
    expect 'soft0 +[[:space:]]*02534ffffe000001' "$scratch/out"
    SOFTVERBS_DEVICES=3 "$soft_device" ibv_devices >"$scratch/out" 2>&1 || fail ibv_devices
    expect 'soft2' "$scratch/out"
    ;;
  devinfo)
    "$soft_device" ibv_devinfo -v >"$scratch/out" 2>&1 || fail ibv_devinfo
    expect 'hca_id:[[:space:]]+soft0' "$scratch/out"
    expect 'transport:[[:space:]]+InfiniBand' "$scratch/out"
    expect 'state:[[:space:]]+PORT_ACTIVE' "$scratch/out"
    expect 'link_layer:[[:space:]]+Ethernet' "$scratch/out"
    expect 'active_mtu:[[:space:]]+4096' "$scratch/out"
    expect 'GID\[ +0\]:[[:space:]]+fe80:0000:0000:0000:0053:4fff:fe00:0001, RoCE v1' "$scratch/out"
    expect 'GID\[ +1\]:[[:space:]]+fe80::53:4fff:fe00:1, RoCE v2' "$scratch/out"
    expect 'GID\[ +3\]:[[:space:]]+::ffff:127.0.0.1, RoCE v2' "$scratch/out"
    expect 'max_mw:[[:space:]]+0$' "$scratch/out"
    [ "$(grep -c 'NO SUPPORT' "$scratch/out")" = 4 ] || fail 'paging on demand by transport'
    ! grep -q ODP_SUPPORT "$scratch/out" || fail "paging on demand"
    SOFTVERBS_DEVICES=2 "$soft_device" ibv_devinfo -d soft1 >"$scratch/out" 2>&1 || fail ibv_devinfo
    expect 'active_mtu:[[:space:]]+1024' "$scratch/out"
    SOFTVERBS_KIND=iwarp "$soft_device" ibv_devinfo >"$scratch/out" 2>&1 || fail ibv_devinfo
    expect 'transport:[[:space:]]+iWARP' "$scratch/out"
    ;;
  pingpong)
    both_ends ibv_rc_pingpong -g 0 -p "$port"
    expect '1000 iters' "$scratch/client"
    expect '1000 iters' "$scratch/server"
    ;;
  pingpong-ipv4)
    both_ends ibv_rc_pingpong -g 3 -p "$port"
    expect '1000 iters' "$scratch/client"
    expect 'remote address.*GID ::ffff:127.0.0.1' "$scratch/client"
    ;;
  pingpong-events)
    both_ends ibv_rc_pingpong -g 0 -p "$port" -e -c
    expect '1000 iters' "$scratch/client"
    expect '1000 iters' "$scratch/server"
    ;;
  pingpong-large)
    both_ends ibv_rc_pingpong -g 0 -p "$port" -e -c -s 1000000 -n 100
    expect '100 iters' "$scratch/client"
    ;;
  pingpong-iwarp) # It connects by itself, which iWARP has no way for. siw's answer is the same.
    # As it fails it frees nothing, and a sanitizer that says so lets it write nothing more.
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
    SOFTVERBS_KIND=iwarp "$soft_device" ibv_rc_pingpong -g 0 -p "$port" >"$scratch/server" 2>&1 &
    server=$!
    tries=0
    until grep -q 'Failed to modify QP to RTS' "$scratch/server"; do
      SOFTVERBS_KIND=iwarp "$soft_device" ibv_rc_pingpong -g 0 -p "$port" 127.0.0.1 >"$scratch/client" 2>&1 || true
      tries=$((tries + 1))
      [ "$tries" -lt 500 ] || fail "the server did not fail as expected"
    done
    wait "$server" && fail "the server succeeded"
    server=
    expect 'GID 253:4f00:1::' "$scratch/server"
    ;;
  *)
    echo "unknown case $2" >&2
    exit 2
    ;;
esac
