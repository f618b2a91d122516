#!/bin/sh
# Runs an unmodified program of rdmacm-utils or perftest on the software device, server and client.
#
#   cm_tool_test.sh SOFT_DEVICE SERVER... -- CLIENT...
#
# PORT in an argument becomes a port of this run, so that runs side by side do not meet. Both
# commands must end with status 0. Status 77 (skipped) when the program is not installed.
set -u

soft_device=$1
shift
command -v "$1" >/dev/null || { echo "$1 is not installed"; exit 77; }

port=$((20000 + $$ % 10000))
server=
while [ "$1" != -- ]; do
  server="$server $1"
  shift
done
shift
client=$*
server=$(echo "$server" | sed "s/PORT/$port/g")
client=$(echo "$client" | sed "s/PORT/$port/g")

work=$(mktemp -d)
server_pid=
cleanup() {
  [ -n "$server_pid" ] && kill "$server_pid" 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# exec keeps the process id, so the trap ends the server itself; timeout ends it after this script.
# shellcheck disable=SC2086  # the commands are lists of words
timeout 50 "$soft_device" $server >"$work/server" 2>&1 &
server_pid=$!

# The server says nowhere that it listens: the connection is tried until it does, or has ended.
tries=0
# shellcheck disable=SC2086
until timeout 40 "$soft_device" $client >"$work/client" 2>&1; do
  tries=$((tries + 1))
  if [ "$tries" -ge 100 ] || ! kill -0 "$server_pid" 2>/dev/null; then
    echo "client failed: $client" && cat "$work/client"
    echo "server: $server" && cat "$work/server"
    exit 1
  fi
  sleep 0.1
done

wait "$server_pid"
status=$?
server_pid=
if [ "$status" -ne 0 ]; then
  echo "server ended with status $status: $server" && cat "$work/server"
  echo "client: $client" && cat "$work/client"
  exit 1
fi
