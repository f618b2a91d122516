#!/bin/bash
# rdmablk-record-writer finds what a disk has forgotten, and nothing else.
# Usage: record_writer_test.sh CASE. Every function named test_* is a case.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
# shellcheck source=tests/e2e/faults_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../e2e/faults_lib.sh"
start
acknowledged=$scratch/acknowledged

# write_records ARGUMENT...
write_records() { "$tools_bin/rdmablk-record-writer" write "$disk" --acknowledged "$acknowledged" "$@"; }

# verify_records [ARGUMENT...]: in what a power cut leaves.
verify_records() { "$tools_bin/rdmablk-record-writer" verify "$medium" --acknowledged "$acknowledged" "$@"; }

has_acknowledged() { [[ -e $acknowledged ]] && (($(wc -l <"$acknowledged") > 200)); }

# The power is cut in the middle.
test_kept() {
  local how
  make_disk 64M
  for how in "--sync fsync" "--sync fdatasync --jobs 4 --rewrite --direct" "--sync dsync --jobs 2 --rewrite" \
    "--sync sync --direct" "--jobs 3 --every 4 --rewrite"; do
    power_on --reorder 1
    rm -f "$acknowledged"
    # shellcheck disable=SC2086 # words of a command
    run_in_background write_records $how 2>"$scratch/writer.log"
    wait_until "records are durable" has_acknowledged
    power_cut
    if wait $!; then fail "the writer did not notice the power cut"; fi
    verify_records --at-least 100 >"$scratch/verified" || fail "$how: $(cat "$scratch/verified")"
  done
}

# A writer that claims to have flushed is found out.
test_lost() {
  make_disk 4M && power_on
  write_records --sync none
  power_cut
  expect_error "record .*zeroes.*acknowledged records are missing" verify_records
  make_disk 4M && power_on --reorder 1
  write_records --sync none --jobs 2 --rewrite
  power_cut
  expect_error "acknowledged records are missing" verify_records
}

# So is one whose new versions are lost, and one byte that is wrong.
test_stale() {
  make_disk 4M && power_on
  write_records --rewrite
  power_cut
  verify_records --at-least 100
  local number=4 version
  version=$(awk -v number=$number 'NR > 1 && $1 == number { print $2 }' "$acknowledged" | tail -n 1)
  echo "$number $((version + 2))" >>"$acknowledged"
  expect_error "record $number version $((version + 2)) .*there: version $version" verify_records
  sed -i '$d' "$acknowledged"
  verify_records
  printf '%s' "$number 9" >>"$acknowledged" # a line that was not finished does not count
  verify_records

  power_on
  write_records
  power_cut
  verify_records
  printf x | dd of="$medium" bs=1 seek=20 conv=notrunc status=none
  expect_error "record 0 .*something else from byte 20 on" verify_records
}

# What fails is not acknowledged.
test_failing() {
  make_disk 4M && power_on
  order "fail fsync EIO 1"
  expect_error "flush up to record 0: Input/output error" write_records
  expect_error "only 0 records" verify_records
  order "fail write ENOSPC 1M 1"
  expect_error "write record .*: No space left" write_records
  power_cut
  verify_records --at-least 10
}

"test_$1"
