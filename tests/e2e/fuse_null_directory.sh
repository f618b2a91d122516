#!/bin/bash
# An image in a directory, and the options that say whose it is.
# shellcheck source=tests/e2e/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start

directory=$scratch/directory
mkdir "$directory"

mount_image --null 1M "$directory/"
expect_equal "what is in it" "null" "$(ls --almost-all "$directory")"
# shellcheck disable=SC2012 # find leaves out the two
expect_equal "with all" ". .. null " "$(ls --all -x "$directory" | tr --squeeze ' \n' ' ')"
expect_equal "the directory" "directory 500 0:0" "$(stat --format '%F %a %u:%g' "$directory")"
expect_equal "the image" "1048576 600" "$(stat --format '%s %a' "$directory/null")"
expect_equal "inode numbers" "$(stat --format %i "$directory/null")" \
  "$(find "$directory" -name null -printf '%i')"
[[ ! -e $directory/other ]] || fail "another name exists"
for change in "touch $directory/other" "mkdir $directory/other" "rm --force $directory/null" \
  "mv $directory/null $directory/other" "ln --symbolic null $directory/other" \
  "ln $directory/null $directory/other" "mkfifo $directory/other"; do
  # shellcheck disable=SC2086 # words on purpose
  expect_error "Operation not permitted" $change
done
echo data >"$directory/null"
expect_equal "data" "data" "$(head --lines=1 "$directory/null")"
unmount_image "$directory"
expect_equal "what is in it afterwards" "" "$(ls --almost-all "$directory")"

mount_image --null 1M "$directory" -o uid=12,gid=34,mode=0640,allow_other -o fsname=tape,noatime
expect_equal "owner and mode" "12:34 640" "$(stat --format '%u:%g %a' "$directory/null")"
expect_equal "the directory's" "12:34 550" "$(stat --format '%u:%g %a' "$directory")"
expect_equal "source" "tape" "$(findmnt --noheadings --output SOURCE "$directory")"
expect_match "mount options" "noatime.*allow_other" "$(findmnt --noheadings --output OPTIONS "$directory")"
chmod 755 "$scratch"
as_user() { setpriv --reuid "$1" --regid "$2" --clear-groups "${@:3}"; }
as_user 12 34 dd if=/dev/zero of="$directory/null" bs=4k count=1 conv=notrunc status=none
as_user 99 34 cat "$directory/null" >"$scratch/copy"
expect_error "Permission denied" as_user 99 34 dd of="$directory/null" conv=notrunc if=/dev/zero count=1
expect_error "Permission denied" as_user 99 98 cat "$directory/null"
unmount_image "$directory"

# A mount of root's is for all whom the mode lets in.
mount_image --null 1M "$directory" -o mode=666
as_user 99 98 cat "$directory/null" >"$scratch/copy"
unmount_image "$directory"
mount_image --null 1M "$directory"
expect_error "Permission denied" as_user 99 98 cat "$directory/null"
unmount_image "$directory"
