#!/bin/bash
# Tests of scripts/vm as its caller sees it. Usage: host_test.sh CASE
#
# Every function named test_* is a case. Exits with 77, "skipped", when a case needs a kernel and
# RDMABLK_UML_KERNEL names none.
set -euo pipefail

# shellcheck source=tests/vm/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# Ends with this script, however that ends.
vm=(setpriv --pdeathsig TERM "$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/scripts/vm" --timeout 60)

# The jobs' directories and console logs go where they can be counted.
TMPDIR=$(mktemp -d /tmp/rdmablk-vm-test.XXXXXX)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# run ARGUMENT...: runs scripts/vm; sets status, out and err.
run() {
  status=0
  "${vm[@]}" "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" || status=$?
  out=$(<"$TMPDIR/out")
  err=$(<"$TMPDIR/err")
  rm "$TMPDIR/out" "$TMPDIR/err"
}

# Processes of a guest have the job's directory on their command line, under TMPDIR.
guest_processes() { pgrep --full "uml_dir=$TMPDIR" || true; }
guest_is_gone() { [[ -z $(guest_processes) ]]; }

# Processes that were killed take a moment to be gone.
expect_nothing_left() {
  wait_until "the end of the guests' processes" guest_is_gone
  expect_equal "files left" '' "$(ls -A "$TMPDIR")"
}

test_no_kernel() {
  unset RDMABLK_UML_KERNEL
  run true
  expect_equal status 1 "$status"
  expect_match message "RDMABLK_UML_KERNEL is not set.*ARCH=um.*docs/vm.md" "$err"
  expect_nothing_left
}

test_kernel_is_no_program() {
  local file=${BASH_SOURCE[0]%/*}/lib.sh
  export RDMABLK_UML_KERNEL=$file
  run true
  expect_equal status 1 "$status"
  expect_match message "RDMABLK_UML_KERNEL is '$file'.*docs/vm.md" "$err"
  expect_nothing_left
}

test_usage() {
  run
  expect_equal "status without a command" 2 "$status"
  run --device eth true
  expect_equal "status with a wrong device" 2 "$status"
  expect_match message "rxe or siw, not 'eth'" "$err"
  run --links 3 true
  expect_equal "status with three links" 2 "$status"
  expect_match message "--links takes 1 or 2, not '3'" "$err"
  run --ram-disk much true
  expect_equal "status with a wrong size" 2 "$status"
  expect_match message "--ram-disk takes a size such as 256M, not 'much'" "$err"
  run --help
  expect_equal "status of --help" 0 "$status"
  expect_match "help" "Usage: scripts/vm" "$out"
}

test_status_and_output() {
  run bash -c 'echo "to stdout"; echo "to stderr" >&2; exit 42'
  expect_equal status 42 "$status"
  expect_equal stdout "to stdout" "$out"
  expect_equal stderr "to stderr" "$err"
  expect_nothing_left
}

# A guest of systemd: a service's journal, what is left of the command, its status, and what hangs.
test_systemd() {
  run --init systemd bash -c '
    cat /proc/1/comm
    systemctl is-system-running --wait
    systemd-run --quiet --service-type oneshot --unit probe echo "from a service" && journalctl --sync
    journalctl --unit probe --output cat
    sleep infinity & echo "to stderr" >&2
    exit 42'
  expect_equal status 42 "$status"
  expect_match stdout $'^systemd\nrunning\n.*from a service' "$out"
  expect_equal stderr "to stderr" "$err"
  run --init systemd --timeout 2 sleep infinity
  expect_equal "status of what hangs" 124 "$status"
  expect_match "what hangs" "sleep infinity" "$err"
  rm "$TMPDIR"/rdmablk-vm-console.*
  expect_nothing_left
  run --init systemd --hosts 2 true
  expect_equal "status with two hosts" 2 "$status"
}

# hold COMMAND: a command for the guest that leaves a service, which ends by COMMAND, and ends with 42.
hold() {
  printf 'printf "[Service]\nExecStart=sleep infinity\nExecStop=%s\nTimeoutStopSec=infinity\n" \
    >/etc/systemd/system/probe.service; systemctl start probe; exit 42' "$1"
}

# With --shutdown services end as on a machine that is switched off, and one that does not takes the time.
test_shutdown() {
  mkdir "$TMPDIR/share"
  run --init systemd --share "$TMPDIR/share" bash -c "$(hold "touch $TMPDIR/share/stopped")"
  expect_equal "status without it" 42 "$status"
  [[ ! -e $TMPDIR/share/stopped ]] || fail "services are ended in any case"
  run --init systemd --shutdown --share "$TMPDIR/share" bash -c "$(hold "touch $TMPDIR/share/stopped")"
  expect_equal status 42 "$status"
  [[ -e $TMPDIR/share/stopped ]] || fail "the service was not ended in order"
  run --init systemd --shutdown --timeout 5 bash -c "$(hold 'sleep infinity')"
  expect_equal "status of a shutdown that hangs" 124 "$status"
  expect_match message "the shutdown after the command did not end within 5 seconds" "$err"
  rm -r "$TMPDIR"/rdmablk-vm-console.* "$TMPDIR/share"
  expect_nothing_left
  run --shutdown true
  expect_equal "status without systemd" 2 "$status"
}

test_signal_status() {
  run bash -c 'kill -TERM $$'
  expect_equal status 143 "$status"
  run no-such-program
  expect_equal "status of a command that is not there" 127 "$status"
  expect_match message "no-such-program" "$err"
}

test_output_is_complete() {
  local expected actual
  expected=$(seq 1 300000 | cksum)
  actual=$("${vm[@]}" seq 1 300000 | cksum)
  expect_equal "checksum of stdout" "$expected" "$actual"
}

# The second line is written only when the first one has been read here.
test_output_is_live() {
  mkdir "$TMPDIR/share"
  mkfifo "$TMPDIR/output"
  "${vm[@]}" --share "$TMPDIR/share" bash -c '
    echo first
    until [[ -e $0/seen ]]; do sleep 0.05; done
    echo second' "$TMPDIR/share" >"$TMPDIR/output" &
  local line
  {
    read -r line
    expect_equal "first line" first "$line"
    : >"$TMPDIR/share/seen"
    read -r line
    expect_equal "second line" second "$line"
  } <"$TMPDIR/output"
  wait "$!"
}

test_environment() {
  cd "$TMPDIR"
  export TEST_VALUE=$'two words\nand a line'
  run bash -c 'echo "$PWD|$TEST_VALUE|$PATH"; read -r || echo "no input"'
  expect_equal "directory, variable, PATH, input" "$PWD|$TEST_VALUE|$PATH"$'\n'"no input" "$out"
}

test_share() {
  mkdir "$TMPDIR/share"
  run --share "$TMPDIR/share" bash -c 'seq 1 100000 >"$0/numbers"; echo lost >"$0/../lost"' "$TMPDIR/share"
  expect_equal status 0 "$status"
  expect_equal "shared file" "$(seq 1 100000 | cksum)" "$(cksum <"$TMPDIR/share/numbers")"
  [[ ! -e $TMPDIR/lost ]] || fail "the guest wrote outside its share"
}

test_leftover_processes() {
  run bash -c 'setsid sleep 1000 & echo done'
  expect_equal status 0 "$status"
  expect_equal stdout "done" "$out"
  expect_nothing_left
}

test_hang() {
  run --timeout 3 --console "$TMPDIR/console" sleep 1000
  expect_equal status 124 "$status"
  expect_match message "did not end within 3 seconds.*sleep 1000" "$err"
  expect_match "list of processes" "sleep 1000" "$(<"$TMPDIR/console")"
  rm "$TMPDIR/console"
  expect_nothing_left
}

test_panic() {
  run bash -c 'echo c >/proc/sysrq-trigger'
  expect_equal status 125 "$status"
  expect_match message "the guest died.*Kernel panic" "$err"
  local console
  console=$(echo "$TMPDIR"/rdmablk-vm-console.*)
  expect_match "message names the console" "$console" "$err"
  expect_match console "Run .*init as init process.*Kernel panic" "$(<"$console")"
  rm "$console"
  expect_nothing_left
}

# interrupt_with SIGNAL: while a command runs.
interrupt_with() {
  mkfifo "$TMPDIR/output"
  "${vm[@]}" bash -c 'echo running; exec sleep 1000' >"$TMPDIR/output" 2>/dev/null &
  local line
  read -r line <"$TMPDIR/output"
  rm "$TMPDIR/output"
  expect_equal "first line" running "$line"
  [[ -n $(guest_processes) ]] || fail "guest_processes does not see the guest"
  kill "-$1" "$!"
  status=0
  wait "$!" || status=$?
}

test_terminated() {
  interrupt_with TERM
  expect_equal status 143 "$status"
  expect_nothing_left
}

# There is nobody to clean up files then, but the guest must not stay.
test_killed() {
  interrupt_with KILL
  expect_equal status 137 "$status"
  wait_until "the end of the guest" guest_is_gone
}

test_parallel() {
  local -a jobs=()
  local number
  for number in 11 12 13; do
    "${vm[@]}" bash -c "exit $number" &
    jobs+=("$!")
  done
  for number in 11 12 13; do
    status=0
    wait "${jobs[number - 11]}" || status=$?
    expect_equal status "$number" "$status"
  done
  expect_nothing_left
}

# Each host has its own number, address, processes and changes to the files; both have the directory.
test_two_hosts() {
  cd "$TMPDIR"
  run --hosts 2 bash -c '
    peer=$RDMABLK_VM_PEER
    echo "here $RDMABLK_TEST_ADDRESS $RDMABLK_VM_PEER_ADDRESS $PWD"
    "$peer" bash -c "echo there \$RDMABLK_TEST_ADDRESS \$RDMABLK_VM_PEER_ADDRESS \$PWD"
    "$peer" touch /tmp/mark && [[ ! -e /tmp/mark ]] && "$peer" test -e /tmp/mark || echo "files are shared"
    exit 42'
  expect_equal status 42 "$status"
  expect_equal stdout "here 192.168.77.1 192.168.77.2 $TMPDIR"$'\n'"there 192.168.77.2 192.168.77.1 $TMPDIR" "$out"
  expect_equal stderr '' "$err"
  expect_nothing_left
}

# rping_between_hosts DEVICE LINKS ADDRESS...: to each address of the other host, under the names of variables.
# READ and WRITE, the data compared at both ends. Servers of the kernel listen as well, on any address. Soft-iWARP
# on a busy host may not notice what comes right after a connection was accepted, and rping waits for it forever;
# hence another try.
rping_between_hosts() {
  run --timeout 180 --hosts 2 --device "$1" --links "$2" bash -c '
    peer=$RDMABLK_VM_PEER
    # The scope of a link-local address is the interface here; it has the same name there.
    rping_to() {
      "$peer" timeout 12 rping -s -a "$1" -C 5 -S 10000 -V &
      local server=$!
      until "$peer" rdma resource show cm_id | grep --quiet "LISTEN.* comm rping "; do
        kill -0 "$server" || return
        sleep 0.05
      done
      timeout 5 rping -c -a "$1" -C 5 -S 10000 -V && wait "$server"
    }
    for name in "$@"; do
      tries=5
      until rping_to "${!name}"; do
        wait
        ((--tries > 0)) || exit 1
      done
      echo "$name ${!name}"
    done' bash "${@:3}"
}

# The second link, and IPv6 on both: each address leads over the link that it belongs to.
test_links() {
  local device names=(RDMABLK_VM_PEER_{ADDRESS,ADDRESS6,LINK_LOCAL}{,_1})
  for device in rxe siw; do
    rping_between_hosts "$device" 2 "${names[@]}"
    expect_equal "status on $device ($out $err)" 0 "$status"
    expect_equal "addresses on $device" "RDMABLK_VM_PEER_ADDRESS 192.168.77.2
RDMABLK_VM_PEER_ADDRESS_1 192.168.78.2
RDMABLK_VM_PEER_ADDRESS6 fd77::2
RDMABLK_VM_PEER_ADDRESS6_1 fd78::2
RDMABLK_VM_PEER_LINK_LOCAL fe80::ff:fe00:1002%v0
RDMABLK_VM_PEER_LINK_LOCAL_1 fe80::ff:fe00:1102%v1" "$(grep RDMABLK <<<"$out")"
  done
  expect_nothing_left
}

# Devices, interfaces and addresses of one host with two links, and of its only one without. No address waits
# for anything, and a link that was down has them all again.
test_link_addresses() {
  run --links 2 bash -c '
    for end in "" _1; do
      declare -n device=RDMABLK_TEST_DEVICE$end interface=RDMABLK_TEST_INTERFACE$end \
        address=RDMABLK_TEST_ADDRESS$end address6=RDMABLK_TEST_ADDRESS6$end link_local=RDMABLK_TEST_LINK_LOCAL$end
      rdma link show "$device/1" | grep --quiet "ACTIVE.*netdev $interface " || echo "no $device"
      ip -6 address show dev "$interface" tentative | grep inet6
      for wanted in "$address" "$address6" "${link_local%\%*}"; do
        ip -oneline address show dev "$interface" to "$wanted" | grep --quiet inet || echo "no $wanted"
      done
      echo "$device $interface $address $address6 $link_local"
    done
    ip link set v1 down
    ip link set v1 up
    ip -oneline address show dev v1 to fd78::1 | grep --only-matching "fd78::1/64"
    ibv_devices | grep --count rxe'
  expect_equal status 0 "$status"
  expect_equal stdout "rxe0 v0 192.168.77.1 fd77::1 fe80::ff:fe00:1001%v0
rxe1 v1 192.168.78.1 fd78::1 fe80::ff:fe00:1101%v1
fd78::1/64
2" "$out"
  RDMABLK_TEST_DEVICE_1=left run bash -c 'echo "${RDMABLK_TEST_DEVICE_1-none}"; ibv_devices | grep --count rxe; [[ ! -e /sys/class/net/v1 ]]'
  expect_equal "status with one link" 0 "$status"
  expect_equal "devices with one link" none$'\n'1 "$out"
}

# One link is pulled, and the other one carries on.
test_second_cable() {
  run --hosts 2 --links 2 bash -c '
    peer=$RDMABLK_VM_PEER
    # Nobody listens there, and the other host says so.
    answers() { [[ $(timeout 2 bash -c "</dev/tcp/$1/9" 2>&1) == *refused* ]]; }
    state() { for address; do answers "$address" && echo yes || echo no; done | xargs; }
    state "$RDMABLK_VM_PEER_ADDRESS" "$RDMABLK_VM_PEER_ADDRESS_1" "$RDMABLK_VM_PEER_ADDRESS6_1"
    "$peer" ip link set v1 down
    state "$RDMABLK_VM_PEER_ADDRESS" "$RDMABLK_VM_PEER_ADDRESS_1" "$RDMABLK_VM_PEER_ADDRESS6_1"
    "$peer" ip link set v1 up
    ip link set v0 down
    state "$RDMABLK_VM_PEER_ADDRESS" "$RDMABLK_VM_PEER_ADDRESS_1" "$RDMABLK_VM_PEER_ADDRESS6_1"'
  expect_equal stdout "yes yes yes"$'\n'"yes no no"$'\n'"no yes yes" "$out"
}

# What comes back of a command on the other host.
test_peer_command() {
  run --hosts 2 bash -c '
    peer=$RDMABLK_VM_PEER status=0
    "$peer" bash -c "echo out; echo err >&2; exit 3" || status=$?
    echo "status $status"
    "$peer" no-such-program || status=$?
    echo "status $status"
    "$peer" bash -c "kill -9 \$\$" || status=$?
    echo "status $status"
    "$peer" seq 1 200000 | cksum
    "$peer" bash -c "sleep 1000 >/dev/null 2>&1 & echo \$!" | grep -q . && "$peer" pgrep --count --full "^sleep 1000"'
  expect_equal status 0 "$status"
  expect_equal stdout "out"$'\n'"status 3"$'\n'"status 127"$'\n'"status 137"$'\n'"$(seq 1 200000 | cksum)"$'\n'1 "$out"
  expect_match stderr "err.*no-such-program" "$err"
  expect_nothing_left
}

# Signals reach a command on the other host, whose end is that of its stand-in here.
test_peer_signals() {
  run --hosts 2 bash -c '
    peer=$RDMABLK_VM_PEER
    gone() { until ! "$peer" pgrep --full "^sleep 1000" >/dev/null; do sleep 0.05; done; }
    for signal in TERM INT QUIT KILL; do
      mkfifo "/tmp/$signal"
      "$peer" bash -c "trap \"exit 7\" TERM; trap \"exit 8\" INT; echo ready; sleep 1000 & wait" >"/tmp/$signal" &
      read -r <"/tmp/$signal"
      # A user-mode kernel may panic when a process is killed that just starts a program.
      until "$peer" pgrep --full "^sleep 1000" >/dev/null; do sleep 0.05; done
      status=0
      kill "-$signal" $!
      wait $! || status=$?
      echo "$signal $status"
      [[ $signal == KILL ]] || "$peer" pkill --full "^sleep 1000" || true
      gone
    done' 2>/dev/null
  expect_equal status 0 "$status"
  expect_equal stdout "TERM 7"$'\n'"INT 8"$'\n'"QUIT 137"$'\n'"KILL 137" "$out"
}

# Orders arrive while the cable is pulled; and it can be plugged in again.
test_cable() {
  run --hosts 2 bash -c '
    peer=$RDMABLK_VM_PEER
    # Nobody listens there, and the other host says so.
    answers() { [[ $(timeout 2 bash -c "</dev/tcp/$RDMABLK_VM_PEER_ADDRESS/9" 2>&1) == *refused* ]]; }
    answers && echo good
    "$peer" ip link set v0 down
    answers || echo down
    "$peer" ip link set v0 up
    answers && echo up'
  expect_equal stdout "good"$'\n'"down"$'\n'"up" "$out"
}

test_two_hosts_hang() {
  run --hosts 2 --timeout 10 --console "$TMPDIR/console" bash -c '"$RDMABLK_VM_PEER" sleep 1234'
  expect_equal status 124 "$status"
  expect_match message "did not end within 10 seconds" "$err"
  expect_match "processes of host 1" "vm_peer run" "$(<"$TMPDIR/console")"
  expect_match "processes of host 2" "sleep 1234" "$(<"$TMPDIR/console.host2")"
  rm "$TMPDIR/console" "$TMPDIR/console.host2"
  expect_nothing_left
}

test_peer_panic() {
  run --hosts 2 bash -c '"$RDMABLK_VM_PEER" bash -c "echo c >/proc/sysrq-trigger"; sleep 1000'
  expect_equal status 125 "$status"
  expect_match message "host 2 died.*Kernel panic" "$err"
  rm "$TMPDIR"/rdmablk-vm-console.*
  expect_nothing_left
}

# Killed at any moment, early ones too.
test_two_hosts_killed() {
  local number
  vm+=(--hosts 2)
  interrupt_with TERM
  expect_equal status 143 "$status"
  expect_nothing_left
  interrupt_with KILL
  expect_equal status 137 "$status"
  wait_until "the end of the guests" guest_is_gone
  rm -r "$TMPDIR"/rdmablk-vm.*
  for number in 1 2 3 4; do
    "${vm[@]}" sleep 1000 2>/dev/null &
    sleep "0.$((number * 2))"
    kill -TERM "$!"
    wait "$!" || true
    expect_nothing_left
  done
}

# Debian's kernel in QEMU: the command's output, status, environment and share, and two processors.
test_qemu() {
  mkdir "$TMPDIR/share"
  run --timeout 300 --kernel qemu --share "$TMPDIR/share" bash -c '
    echo "$RDMABLK_TEST_DEVICE $RDMABLK_TEST_ADDRESS $RDMABLK_IN_VM $(nproc)"
    echo "to stderr" >&2
    seq 1 100000 | tee "$0/numbers" | cksum
    ibv_devinfo | grep -q PORT_ACTIVE && exit 42' "$TMPDIR/share"
  expect_equal status 42 "$status"
  expect_equal stdout "rxe0 192.168.77.1 1 2"$'\n'"$(seq 1 100000 | cksum)" "$out"
  expect_equal stderr "to stderr" "$err"
  expect_equal "shared file" "$(seq 1 100000 | cksum)" "$(cksum <"$TMPDIR/share/numbers")"
  rm -r "$TMPDIR/share"
  expect_nothing_left
}

test_qemu_usage() {
  run --kernel qemu --device siw true
  expect_equal "status with soft-iWARP" 2 "$status"
  run --kernel qemu --hosts 2 true
  expect_equal "status with two hosts" 2 "$status"
  run --kernel xen true
  expect_equal "status with another kernel" 2 "$status"
  run --hosts 3 true
  expect_equal "status with three hosts" 2 "$status"
  expect_nothing_left
}

# Nothing in the cache, and no network to fill it.
test_qemu_no_network() {
  type -P qemu-system-x86_64 >/dev/null || { echo "skipped: no QEMU" && exit 77; }
  mkdir "$TMPDIR/cache"
  XDG_CACHE_HOME=$TMPDIR/cache APT_CONFIG=$TMPDIR/apt.conf
  export XDG_CACHE_HOME APT_CONFIG
  echo 'Acquire::http::Proxy "http://127.0.0.1:9"; Acquire::Retries::Delay "false";' >"$APT_CONFIG"
  run --kernel qemu true
  expect_equal status 1 "$status"
  expect_match message "cannot be fetched|apt knows no package" "$err"
  expect_equal "what is in the cache" lock "$(ls -A "$TMPDIR/cache/rdmablk")"
  rm -r "$TMPDIR/cache" "$APT_CONFIG"
  expect_nothing_left
}

case $1 in
  no_kernel | kernel_is_no_program | usage | qemu_usage | qemu_no_network) ;;
  qemu)
    cached=("${XDG_CACHE_HOME:-${HOME:-/root}/.cache}"/rdmablk/linux-image-*)
    if ! type -P qemu-system-x86_64 >/dev/null || [[ ! -d ${cached[0]} ]]; then
      echo "skipped: QEMU or its kernel is not here; scripts/test --vm installs it (docs/vm.md)"
      exit 77
    fi
    ;;
  *)
    if [[ -z ${RDMABLK_UML_KERNEL:-} ]]; then
      echo "skipped: RDMABLK_UML_KERNEL names no user-mode Linux kernel (docs/vm.md)"
      exit 77
    fi
    ;;
esac
"test_$1"
