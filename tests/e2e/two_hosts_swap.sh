#!/bin/bash
# A host whose memory is short swaps to an export: a program that wants more than there is gets it, and finds in it
# what it wrote, also when the link is away for a while in between. Takes a guest of little memory.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts

# As docs/operating.md says: the default is used up by what waits for the link, and then nothing moves any more.
sysctl --quiet --write vm.min_free_kbytes=32768

total=$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo) # MiB
((total < 1024)) || skip "there is too much memory to use up"

# swapped_out: pages that were written, ever.
swapped_out() { awk '$1 == "pswpout" { print $2 }' /proc/vmstat; }

start_target --export swap=memory:256M
"$rdmablk" map "$(uri swap)" --name swap -o give_up=never >/dev/null
mkswap /dev/rdmablk/by-name/swap >/dev/null
swapon /dev/rdmablk/by-name/swap

# cut_link: takes the target off the link for some seconds, once something was swapped out. The order is given in
# advance: nothing here runs for sure while memory is short and the link away.
cut_link() {
  at target bash -c 'for second in {1..60}; do
      sleep 1
      (($(cat "/sys/class/net/$0/statistics/rx_bytes") < 16 << 20)) || break
    done
    ip link set "$0" down
    sleep 8
    ip link set "$0" up' "$(interface_of)" >/dev/null
}
cut_link &
cutter=$!
test_pids+=("$cutter")

# Twice around, so that what was written out comes back.
wanted=$((total - 40))
perl -e '
  my $count = shift;
  my @pieces = map { chr($_ % 251 + 1) x (1 << 20) } 1 .. $count;
  for my $round (1 .. 2) {
    for my $i (1 .. $count) {
      $pieces[$i - 1] eq chr($i % 251 + 1) x (1 << 20) or die "piece $i is not what was written\n";
    }
  }' "$wanted" || fail "a program that wanted $wanted MiB of $total ended with status $?"
(($(swapped_out) > 0)) || fail "nothing was swapped out"
wait "$cutter" || fail "the link was not cut"

expect_error "swapoff" "$rdmablk" unmap swap
swapoff /dev/rdmablk/by-name/swap
"$rdmablk" unmap swap
