#!/bin/bash
# Runs a command while packets between addresses of this host take 3 ms. For guests only.
set -euo pipefail
[[ -n ${RDMABLK_IN_VM:-} ]] || { echo "$0: not in a guest" >&2; exit 1; }
tc qdisc add dev lo root netem delay 3ms
exec "$@"
