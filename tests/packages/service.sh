#!/bin/bash
# The packages where systemd is the first process: they are installed; the target is a service that keeps what
# it has in memory over whatever happens to it, under load; they are removed, and nothing is left.
# Runs in a guest (scripts/vm --init systemd).
#
# Environment:
#   RDMABLK_PACKAGES   the directory of the packages
#   RDMABLK_TEST_ADDRESS
export RDMABLK_BIN=/usr/bin
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/packages/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
: "${RDMABLK_PACKAGES:?}" "${RDMABLK_TEST_ADDRESS:?}"
[[ $(</proc/1/comm) == systemd ]] || skip "systemd is not the first process"
start

readonly unit=rdmablk-target.service drop_ins=/etc/systemd/system/rdmablk-target.service.d
readonly packages=(rdmablk-target rdmablk)
mount_point=$scratch/mount image=$scratch/mount/disk

show() { systemctl show --value --property "$1" "$unit"; }

# now_or_journal COMMAND...: shows what the service said when it fails.
now_or_journal() { "$@" || fail "$*: $(systemctl status --no-pager --lines=30 "$unit" 2>&1)"; }

# set_unit NAME LINE...: a drop-in for the unit.
set_unit() {
  local name=$1
  shift
  mkdir --parents "$drop_ins"
  printf '%s\n' '[Service]' "$@" >"$drop_ins/$name.conf"
  systemctl daemon-reload
}

status_is() { [[ $(show StatusText) == "$1" ]]; }

# The load: writes and verifies one round after the other, and counts them, until it is told to end.
run_load() {
  local round=0
  until [[ -e $scratch/enough ]]; do
    verify_with_fio "$image" 8M --rw=randwrite --bs=64k --ioengine=libaio --iodepth=8 --verify_state_save=0 ||
      exit 1
    echo $((++round)) >"$scratch/rounds.new"
    mv "$scratch/rounds.new" "$scratch/rounds"
  done
}

load_pid=
start_load() {
  echo 0 >"$scratch/rounds"
  run_load &
  load_pid=$!
  test_pids+=("$load_pid")
  await_rounds 1
}

# await_rounds COUNT: so many more; the first may have begun before.
await_rounds() {
  local wanted=$(($(<"$scratch/rounds") + $1))
  until (($(<"$scratch/rounds") >= wanted)); do
    is_running "$load_pid" || fail "the load failed"
    sleep 0.05
  done
}

end_load() {
  touch "$scratch/enough"
  wait "$load_pid" || fail "the load failed"
}

identity() { rdmablk info --json "rdmablk://$RDMABLK_TEST_ADDRESS/$1" | jq --raw-output '"\(.uuid) \(.generation)"'; }

# under_load WHAT COMMAND...: the target must be another process afterwards, or the same one; its memory and
# the load's data must be there.
under_load() {
  local what=$1 before
  shift
  before=$(identity disk)
  now_or_journal "$@"
  await_rounds 2
  expect_equal "the export after $what" "$before" "$(identity disk)"
  expect_equal "state after $what" active "$(show ActiveState)"
  echo "$what: kept"
}

# configure SIZE: the exports disk, of that size, and other.
configure() {
  printf '%s\n' 'insecure = true' "listen = \"$RDMABLK_TEST_ADDRESS\"" 'admin_group = "rdmablk-admin"' \
    '[export.disk]' 'type = "memory"' "size = \"$1\"" '[export.other]' 'type = "memory"' 'size = "1M"' \
    >/etc/rdmablk/target.toml
}

has_three_exports() { [[ $(show StatusText) == "3 exports "* ]]; }
has_grown() { [[ $(stat --format %s "$image") == $((96 << 20)) ]]; }

# An export is added, and that which is in use grows.
reload_service() {
  configure 96M
  printf '%s\n' '[export.late]' 'type = "memory"' 'size = "1M"' >/etc/rdmablk/target.d/late.toml
  chown rdmablk: /etc/rdmablk/target.d/late.toml
  systemctl reload "$unit"
  wait_until "the status line tells of the new export" has_three_exports
  wait_until "the mount sees its new size" has_grown
}

# From /etc/fstab.
mount_unit=$(systemd-escape --path --suffix mount "$mount_point")
mount_disk() {
  echo "rdmablk://$RDMABLK_TEST_ADDRESS/disk $mount_point rdmablk _netdev,nofail 0 0" >>/etc/fstab
  systemctl daemon-reload
  systemctl start "$mount_unit" || fail "$(systemctl status --no-pager "$mount_unit" 2>&1)"
}

unmount_disk() { systemctl stop "$mount_unit"; }

# Installing.
package_files "${packages[@]}" >"$scratch/files"
install_packages "${packages[@]}"
expect_equal "who may read the configuration" "640 root:rdmablk" "$(stat --format '%a %U:%G' /etc/rdmablk/target.toml)"
expect_equal "who may write drop-ins" "750 rdmablk:rdmablk" "$(stat --format '%a %U:%G' /etc/rdmablk/target.d)"
getent group rdmablk-admin >/dev/null || fail "there is no group rdmablk-admin"
expect_equal "a new service" "inactive" "$(systemctl is-active "$unit" || true)"
expect_equal "systemd-analyze verify" "" "$(systemd-analyze verify "$unit" 2>&1)"
systemd-analyze security --offline=yes --threshold=25 "$unit" >"$scratch/security" || fail "$(tail -n 1 "$scratch/security")"

# Starting. The service's user is told what is wrong before the service was ever started.
configure 64M
check=(rdmablk-target --config /etc/rdmablk/target.toml --check-config --as-user rdmablk --export)
(
  unset STATE_DIRECTORY # of the test
  "${check[@]}" probe=file:/var/lib/rdmablk/probe.img,size=1M >"$scratch/check" 2>&1 || fail "$(<"$scratch/check")"
  [[ $(<"$scratch/check") != *ReadWritePaths=* ]] || fail "$(<"$scratch/check")"
  install --directory --owner=rdmablk /opt/rdmablk
  expect_match "what is said of other places" "takes a drop-in for its unit .ReadWritePaths=" \
    "$("${check[@]}" probe=file:/opt/rdmablk/probe.img,size=1M 2>&1)"
  rmdir /opt/rdmablk
)
expect_error "as 'probe'.*Permission denied" "${check[@]}" probe=file:/root/probe.img,size=1M
set_unit watchdog WatchdogSec=3 TimeoutAbortSec=1 RestartSec=100ms # so that the test need not wait for long
now_or_journal systemctl enable --quiet --now "$unit"
expect_equal "who runs it" rdmablk "$(stat --format %U "/proc/$(show MainPID)")"
expect_match "systemctl status" "2 exports \(disk, other\), 65 MiB; 0 sessions" "$(systemctl status --no-pager "$unit")"

# Mounting, and a load.
mkdir "$mount_point"
mount_disk
[[ -f $image ]] || fail "nothing is mounted"
wait_until "the status line tells of the session" status_is "2 exports (disk, other), 65 MiB; 1 session"
start_load

# What may happen to a service.
restart_service() {
  local pid
  pid=$(show MainPID)
  systemctl restart "$unit"
  [[ $(show MainPID) != "$pid" ]] || fail "the restart left the process as it was"
}
under_load "a restart" restart_service
under_load "a reload" reload_service
under_load "an upgrade" install_packages rdmablk-target

freeze_service() {
  local pid
  pid=$(show MainPID)
  kill -STOP "$pid"
  until [[ $(show MainPID) != @("$pid"|0) && $(show ActiveState) == active ]]; do sleep 0.1; done
}
under_load "a target that is stopped" freeze_service
grep --quiet "Watchdog timeout" < <(journalctl --unit "$unit" --output cat) || fail "it was not the watchdog"
end_load

# Where exports may lie: somewhere that stays as it is when the service ends, or nowhere.
expect_error "Read-only file system" rdmablk export add probe=file:/var/tmp/probe.img,size=1M
install --directory --owner=rdmablk /srv/rdmablk
for place in /srv/rdmablk /dev/shm; do
  rdmablk export add "probe=file:$place/probe.img,size=1M" || fail "$place is no place for exports"
  file=$(stat --format %i "$place/probe.img")
  restart_service
  expect_equal "the file in $place after a restart" "$file" "$(stat --format %i "$place/probe.img")"
  rdmablk export rm probe
  rm "$place/probe.img"
done
rmdir /srv/rdmablk

# Stopping.
pid=$(daemon_of "$mount_point")
unmount_disk
wait_for_exit "$pid" 30 || fail "a mount's process is left"
systemctl stop "$unit"
expect_equal "the service at its end" "inactive success" "$(show ActiveState) $(show Result)"
expect_equal "processes" "" "$(pgrep --list-full rdmablk || true)"
expect_equal "RDMA resources" "" "$(for kind in cm_id mr pd cq qp; do rdma resource show "$kind"; done | grep rdmablk || true)"
[[ ! -e /run/rdmablk ]] || fail "/run/rdmablk is left"

# Removing.
[[ -d /var/lib/rdmablk ]] || fail "there is no state directory"
touch /etc/rdmablk/target.d/50-run-time.toml /var/lib/rdmablk/0123.json "$scratch/owned.img"
dpkg --remove "${packages[@]}" >"$scratch/dpkg.log" 2>&1 || fail "dpkg --remove: $(cat "$scratch/dpkg.log")"
[[ -f /etc/rdmablk/target.toml && ! -e /usr/sbin/rdmablk-target ]] || fail "a removal keeps the configuration, and nothing else"
dpkg --purge "${packages[@]}" >"$scratch/dpkg.log" 2>&1 || fail "dpkg --purge: $(cat "$scratch/dpkg.log")"
while read -r file; do
  [[ ! -e $file ]] || fail "$file is left"
done <"$scratch/files"
[[ ! -e /var/lib/rdmablk && ! -e /etc/rdmablk ]] || fail "state or configuration is left"
expect_equal "links to the unit" "" "$(find /etc/systemd -name "$unit")"
# A package without configuration was gone with its removal; and dpkg does not know directories by their other
# name (/lib and /usr/lib).
expect_equal "warnings of dpkg" "" "$(grep --extended-regexp 'warning|error' "$scratch/dpkg.log" |
  grep --invert-match --extended-regexp "isn't installed|system-generators' not empty" || true)"
