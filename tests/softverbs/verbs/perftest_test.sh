#!/bin/bash
# Runs a program of perftest, as Debian ships it, on the software device: server and client, each of
# which must end with 0 and the client report every iteration.
# Usage: perftest_test.sh SOFT_DEVICE PROGRAM [OPTION...]
#
# perftest has two faults of its own that show now and then. A round with one of them, and no other, is run
# again:
# - With -R the client connects twice, the second time without knowing whether its server listens again, and
#   crashes when that is refused: it dies of SIGSEGV or SIGBUS while the server, alive, awaits a connection.
# - ib_send_lat -e asks for a send queue of one request and, now and then, posts one that it has no room for.
#   Adapters round the size up, so it shows on this device only, whose sizes are exact.
set -euo pipefail

readonly rounds=10
soft_device=$1
shift
program=$1
has_cm='' has_events=''
[[ " $* " != *' -R '* ]] || has_cm=yes
[[ " $* " != *' -e '* ]] || has_events=yes
scratch=$(mktemp --directory)
server=''

stop_server() {
  [[ -n $server ]] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=''
}
trap 'stop_server; rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

fail() {
  echo "FAILED: $*" >&2
  tail --verbose --lines=40 "$scratch"/* >&2
  exit 1
}

# Whether somebody listens on the port: as the software device's connection manager, or by TCP.
listens() {
  if [[ -n $has_cm ]]; then
    grep --quiet "@softverbs/cm/262/$1/L/" /proc/self/net/unix
  else
    grep --quiet --no-messages "$(printf ':%04X [0-9A-F:]* 0A' "$1")" /proc/net/tcp /proc/net/tcp6
  fi
}

await_server() {
  local attempts=600
  until listens "$1"; do
    kill -0 "$server" 2>/dev/null || fail "the server ended before it listened"
    ((attempts-- > 0)) || fail "the server does not listen"
    sleep 0.05
  done
}

client_crashed() {
  [[ -n $has_cm && ($1 == 139 || $1 == 135) ]] && kill -0 "$server" 2>/dev/null
}

queue_was_full() {
  [[ $program == ib_send_lat && -n $has_events ]] && grep --quiet "Couldn't post send" "$scratch/client" "$scratch/server"
}

# run_round PORT ARGUMENT...: fails after one of the known faults.
run_round() {
  local port=$1 client_status=0 server_status=0
  shift
  # timeout ends both even when this script is killed.
  timeout 60 "$soft_device" "$@" -F -p "$port" >"$scratch/server" 2>&1 &
  server=$!
  await_server "$port"
  timeout 20 "$soft_device" "$@" -F -p "$port" 127.0.0.1 >"$scratch/client" 2>&1 || client_status=$?
  if ((client_status == 0)); then
    wait "$server" || server_status=$?
    server=''
    ((server_status != 0)) || return 0
  fi
  client_crashed "$client_status" || queue_was_full ||
    fail "'$*': the client ended with status $client_status, the server with $server_status (0: or not at all)"
  stop_server
  return 1
}

# With a sanitized library the sanitizer would report what these programs leak.
export ASAN_OPTIONS=detect_leaks=0
type -P "$program" >/dev/null || { echo "SKIPPED: $program is not installed"; exit 77; }
for ((round = 0; round < rounds; ++round)); do
  if run_round $((20000 + ($$ + round * 331) % 10000)) "$@" -n 1000; then
    grep --extended-regexp --quiet '^ *[0-9]+ +1000 |^ *[0-9]+ +4000 ' "$scratch/client" ||
      fail "the client reports no 1000 iterations of each queue pair"
    exit 0
  fi
  echo "one of perftest's own faults; once more"
done
fail "perftest's own faults $rounds times"
