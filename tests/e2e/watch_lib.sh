# What the tests share that watch the programs over HTTP. A test sources this file behind remote_lib.sh.
# shellcheck shell=bash

# page HOST:PORT PATH: the body of a page. Fails when its status is not 200.
page() {
  local connection status line
  exec {connection}<>"/dev/tcp/${1%:*}/${1##*:}" || return 1
  printf 'GET %s HTTP/1.0\r\n\r\n' "$2" >&"$connection"
  read -r _ status _ <&"$connection"
  while read -r line <&"$connection" && [[ $line != $'\r' ]]; do :; done
  cat <&"$connection"
  exec {connection}>&-
  [[ $status == 200 ]]
}

# metrics_address LOG: where a program says in its log that its metrics are.
metrics_address() { sed -n 's,.*metrics at http://\([^/]*\)/metrics.*,\1,p' "$1"; }

# value HOST:PORT METRIC: of one metric, with its labels: 'name{export="disk"}'.
value() { page "$1" /metrics | metric="$2" awk '$0 !~ /^#/ && substr($0, 1, length(ENVIRON["metric"]) + 1) == ENVIRON["metric"] " " { print $NF }'; }

# has_value HOST:PORT METRIC VALUE
has_value() { [[ $(value "$1" "$2") == "$3" ]]; }

# expect_value HOST:PORT METRIC VALUE
expect_value() { expect_equal "$2" "$3" "$(value "$1" "$2")"; }
