#!/bin/bash
# Runs a program of perftest, as Debian ships it, on the software device: server and client, each of
# which must end with 0 and the client report every iteration.
# Usage: perftest_test.sh SOFT_DEVICE PROGRAM [OPTION...]
#
# With -R perftest has a fault of its own: the client connects twice, the second time without knowing
# whether its server listens again, and crashes when that is refused. Such a round, and no other, is run
# again: one whose client died of SIGSEGV or SIGBUS while the server, alive, awaits a connection.
set -euo pipefail

readonly rounds=10
soft_device=$1
shift
program=$1
case " $* " in *' -R '*) has_cm=yes ;; *) has_cm='' ;; esac
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
    cat /proc/net/tcp /proc/net/tcp6 | grep --quiet "$(printf ':%04X [0-9A-F:]* 0A' "$1")"
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

is_known_fault() {
  [[ -n $has_cm && ($1 == 139 || $1 == 135) ]] && kill -0 "$server" 2>/dev/null
}

# run_round PORT ARGUMENT...: succeeds when the client did.
run_round() {
  local port=$1 status=0
  shift
  # timeout ends both even when this script is killed.
  timeout 60 "$soft_device" "$@" -F -p "$port" >"$scratch/server" 2>&1 &
  server=$!
  await_server "$port"
  timeout 50 "$soft_device" "$@" -F -p "$port" 127.0.0.1 >"$scratch/client" 2>&1 || status=$?
  if ((status != 0)); then
    is_known_fault "$status" || fail "the client of '$*' ended with status $status"
    stop_server
    return 1
  fi
  wait "$server" || fail "the server of '$*' ended with status $?"
  server=''
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
  echo "perftest's client met its server before it listened again; once more"
done
fail "the client crashed $rounds times"
