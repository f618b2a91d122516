#include "fuse/mount_table.h"

#include <gtest/gtest.h>

namespace rdmablk::fuse {
namespace {

TEST(MountTable, ReadsLines) {
  const auto entries = parse_mount_table(
      "22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
      "41 27 0:38 / /mnt/disk rw,nosuid - fuse.rdmablk rdmablk://h:1/d rw,user_id=0\n"
      "42 27 8:1 /sub /a rw shared:1 master:2 propagate_from:3 - ext4 /dev/sda1 rw\n");
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].path, "/sys");
  EXPECT_EQ(entries[0].type, "sysfs");
  EXPECT_EQ(entries[1].device, "0:38");
  EXPECT_EQ(entries[1].path, "/mnt/disk");
  EXPECT_EQ(entries[1].type, "fuse.rdmablk");
  EXPECT_EQ(entries[1].source, "rdmablk://h:1/d");
  EXPECT_EQ(entries[2].type, "ext4");
  EXPECT_EQ(entries[2].source, "/dev/sda1");
}

TEST(MountTable, UndoesTheKernelsEscapes) {
  const auto entries =
      parse_mount_table("1 2 0:3 / /my\\040disk\\134x rw - fuse.rdmablk a\\011b r");
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].path, "/my disk\\x");
  EXPECT_EQ(entries[0].source, "a\tb");
}

TEST(MountTable, LeavesOutWhatMakesNoSense) {
  EXPECT_TRUE(parse_mount_table("").empty());
  EXPECT_TRUE(parse_mount_table("\n\n1 2 3\n").empty());
  EXPECT_TRUE(parse_mount_table("1 2 0:3 / /path rw no separator").empty());
}

TEST(MountTable, FindsWhatIsMounted) {
  const auto proc = mounted_at("/proc");
  ASSERT_TRUE(proc);
  EXPECT_EQ(proc->type, "proc");
  EXPECT_FALSE(mounted_at("/proc/self"));
}

}  // namespace
}  // namespace rdmablk::fuse
