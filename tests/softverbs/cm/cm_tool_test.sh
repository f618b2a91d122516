#!/bin/sh
# Runs an unmodified program of rdmacm-utils or perftest on the software device, server and client.
#
#   cm_tool_test.sh ROUNDS SOFT_DEVICE SERVER... -- CLIENT...
#
# PORT in an argument becomes a port of this run, so that runs side by side do not meet. Both
# commands must end with status 0 in one of ROUNDS rounds. Status 77 (skipped) when the program is
# not installed. perftest gets more than one round: its client connects a second time without
# knowing whether its server listens again, and crashes when that is refused.
set -u

rounds=$1
soft_device=$2
shift 2
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }

server=
while [ "$1" != -- ]; do
  server="$server $1"
  shift
done
shift
client=$*

work=$(mktemp -d)
server_pid=
stop_server() {
  [ -n "$server_pid" ] || return 0
  kill "$server_pid" 2>/dev/null
  wait "$server_pid" 2>/dev/null
  server_pid=
}
cleanup() {
  stop_server
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# The server says nowhere that it listens; the register of listeners (port_registry.h) does.
await_listener() {
  tries=0
  until grep -q "@softverbs/cm/262/$1/L/" /proc/self/net/unix; do
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] && kill -0 "$server_pid" 2>/dev/null || return 1
    sleep 0.05
  done
}

run_round() {
  port=$((20000 + ($$ + $1 * 100) % 10000))
  server_words=$(echo "$server" | sed "s/PORT/$port/g")
  client_words=$(echo "$client" | sed "s/PORT/$port/g")
  # timeout ends the server even when this script is killed.
  # shellcheck disable=SC2086  # the commands are lists of words
  timeout 50 "$soft_device" $server_words >"$work/server" 2>&1 &
  server_pid=$!
  # shellcheck disable=SC2086
  if await_listener "$port" && timeout 40 "$soft_device" $client_words >"$work/client" 2>&1; then
    wait "$server_pid"
    status=$?
    server_pid=
    [ "$status" -eq 0 ] && return 0
    echo "server ended with status $status"
  else
    echo "client failed, or the server never listened"
    stop_server
  fi
  echo "server: $server_words" && cat "$work/server"
  echo "client: $client_words" && cat "$work/client"
  return 1
}

round=0
while [ "$round" -lt "$rounds" ]; do
  run_round "$round" && exit 0
  round=$((round + 1))
done
exit 1
