# How the guest of scripts/vm --init systemd leaves process 1 to systemd. Sourced by vm_guest.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154 # share_point: of vm_guest.sh

# What systemd starts at boot; all else that the host's packages would have started is for the command
# to start, if it wants it.
readonly boot_units=(systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket)

# become_systemd: does not return.
become_systemd() {
  forget_boot_units
  : >/etc/fstab # the host's file systems are not the guest's
  # The host may be a container, whose packages are kept from starting services: the guest is none.
  rm -f /usr/sbin/policy-rc.d /.dockerenv
  write_command_unit
  write_generators
  trap - EXIT
  exec /lib/systemd/systemd --log-target=journal-or-kmsg --show-status=no
}

# The links by which units of the host's packages are started at boot.
forget_boot_units() {
  local link
  for link in /lib/systemd/system/*.wants/* /etc/systemd/system/*.{wants,requires}/*; do
    [[ ! -L $link || " ${boot_units[*]} " == *" ${link##*/} "* ]] || rm "$link"
  done
}

# The generators that make units of the host's other packages are left out; they take longer than the rest.
write_generators() {
  local generator
  mkdir --parents /etc/systemd/system-generators
  for generator in /lib/systemd/system-generators/*; do
    [[ $generator == */systemd-fstab-generator ]] ||
      ln -sf /dev/null "/etc/systemd/system-generators/${generator##*/}"
  done
}

# The command is a service, with no limit on locked memory and no time-out.
write_command_unit() {
  cat >/etc/systemd/system/rdmablk-vm.service <<END
[Unit]
Description=The command that scripts/vm runs

[Service]
Type=exec
ExecStart=/bin/bash $share_point/init service
LimitMEMLOCK=infinity
KillMode=process
TimeoutStopSec=5
END
  mkdir --parents /etc/systemd/system/rdmablk-vm.target.wants
  ln -s ../rdmablk-vm.service /etc/systemd/system/rdmablk-vm.target.wants/
  printf '[Unit]\nDescription=What the guest is for\nRequires=basic.target\nAfter=basic.target\nAllowIsolate=yes\n' \
    >/etc/systemd/system/rdmablk-vm.target
  ln -sfn rdmablk-vm.target /etc/systemd/system/default.target
}
