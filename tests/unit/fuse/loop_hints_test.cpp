#include "fuse/loop_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::fuse {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LoopHints, NameTheImageAndTheMountPoint) {
  const std::string text = loop_hints("/mnt/d/disk", "/mnt/d", false);
  EXPECT_THAT(text, HasSubstr("losetup --direct-io=on --find --show /mnt/d/disk"));
  EXPECT_THAT(text, HasSubstr("mkfs.ext4"));
  EXPECT_THAT(text, HasSubstr("fusermount3 -u /mnt/d\n"));
}

TEST(LoopHints, MakeNoFileSystemOnAReadOnlyImage) {
  const std::string text = loop_hints("/disk", "/disk", true);
  EXPECT_THAT(text, HasSubstr("losetup --read-only"));
  EXPECT_THAT(text, Not(HasSubstr("mkfs")));
}

TEST(LoopHints, QuoteForTheShell) {
  EXPECT_THAT(loop_hints("/my disk", "/my disk", false), HasSubstr("--show '/my disk')"));
  EXPECT_THAT(loop_hints("/it's", "/it's", false), HasSubstr("'/it'\\''s'"));
}

}  // namespace
}  // namespace rdmablk::fuse
