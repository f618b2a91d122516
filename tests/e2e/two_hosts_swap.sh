#!/bin/bash
# A host whose memory is short swaps to an export: a program that wants more than there is gets it, and finds in it
# what it wrote. Takes a guest of little memory.
# shellcheck source=tests/e2e/two_hosts_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/two_hosts_lib.sh"
start_two_hosts

total=$(awk '$1 == "MemTotal:" { print int($2 / 1024) }' /proc/meminfo) # MiB
((total < 1024)) || skip "there is too much memory to use up"

# swapped_out: pages that were written, ever.
swapped_out() { awk '$1 == "pswpout" { print $2 }' /proc/vmstat; }

start_target --export swap=memory:256M
"$rdmablk" map "$(uri swap)" --name swap -o give_up=never >/dev/null
mkswap /dev/rdmablk/by-name/swap >/dev/null
swapon /dev/rdmablk/by-name/swap

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

expect_error "swapoff" "$rdmablk" unmap swap
swapoff /dev/rdmablk/by-name/swap
"$rdmablk" unmap swap
