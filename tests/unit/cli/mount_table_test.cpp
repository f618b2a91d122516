#include "initiator/cli/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::cli {
namespace {

using testing::ElementsAre;
using testing::FieldsAre;
using testing::IsEmpty;

TEST(MountTable, ReadsTheFieldsThatMatter) {
  EXPECT_THAT(
      parse_mount_table("22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
                        "90 22 0:44 / /mnt/disk rw,nosuid - fuse.rdmablk rdmablk://h:1/x rw\n"),
      ElementsAre(FieldsAre("254:1", "/", "ext4", "/dev/vda1"),
                  FieldsAre("0:44", "/mnt/disk", "fuse.rdmablk", "rdmablk://h:1/x")));
}

TEST(MountTable, SkipsAnyNumberOfOptionalFields) {
  EXPECT_THAT(parse_mount_table("1 2 0:3 / /a rw - t s o\n"
                                "1 2 0:3 / /b rw shared:1 master:2 propagate_from:3 - t s o"),
              ElementsAre(FieldsAre("0:3", "/a", "t", "s"), FieldsAre("0:3", "/b", "t", "s")));
}

TEST(MountTable, UndoesTheKernelsEscapes) {
  EXPECT_THAT(parse_mount_table(R"(1 2 0:3 / /a\040b\011c\012d\134e rw - fuse my\040disk rw)"),
              ElementsAre(FieldsAre("0:3", "/a b\tc\nd\\e", "fuse", "my disk")));
}

TEST(MountTable, LeavesAloneWhatIsNoEscape) {
  EXPECT_THAT(parse_mount_table(R"(1 2 0:3 / /a\04 rw - t \089\ rw)"),
              ElementsAre(FieldsAre("0:3", R"(/a\04)", "t", R"(\089\)")));
}

TEST(MountTable, LeavesOutLinesThatMakeNoSense) {
  EXPECT_THAT(parse_mount_table(""), IsEmpty());
  EXPECT_THAT(parse_mount_table("\n\nnonsense\n1 2 0:3 / /a rw\n1 2 0:3 / /a rw -\n"
                                "1 2 0:3 / /a rw - type\n"),
              IsEmpty());
}

TEST(MountTable, TakesADashAsANameBeforeTheSeparator) {
  EXPECT_THAT(parse_mount_table("1 2 0:3 / - rw - t s o"),
              ElementsAre(FieldsAre("0:3", "-", "t", "s")));
}

TEST(MountedAt, KnowsTheSystemsOwnMounts) {
  const auto proc = mounted_at("/proc");
  ASSERT_TRUE(proc);
  EXPECT_EQ(proc->type, "proc");
  EXPECT_FALSE(mounted_at("/proc/self"));
}

}  // namespace
}  // namespace rdmablk::cli
