#include "fuse/loop_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::fuse {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LoopHints, NameTheImageAndTheMountPoint) {
  const std::string text = LoopHints{"/mnt/d/disk", "/mnt/d"}.text();
  EXPECT_THAT(text, HasSubstr("losetup --direct-io=on --find --show /mnt/d/disk"));
  EXPECT_THAT(text, HasSubstr("mkfs.ext4"));
  EXPECT_THAT(text, HasSubstr("rdmablk unmount /mnt/d\n"));
}

TEST(LoopHints, MakeNoFileSystemOnAReadOnlyImage) {
  const std::string text =
      LoopHints{.image = "/disk", .mount_point = "/disk", .read_only = true}.text();
  EXPECT_THAT(text, HasSubstr("losetup --read-only"));
  EXPECT_THAT(text, Not(HasSubstr("mkfs")));
}

TEST(LoopHints, TellWhatRootNeeds) {
  LoopHints hints{"/disk", "/disk"};
  EXPECT_THAT(hints.text(), Not(HasSubstr("allow_other")));
  hints.closed_to_root = true;
  EXPECT_THAT(hints.text(), HasSubstr("allow_other"));
}

TEST(LoopHints, QuoteForTheShell) {
  EXPECT_THAT(LoopHints({"/my disk", "/my disk"}).text(), HasSubstr("--show '/my disk')"));
  EXPECT_THAT(LoopHints({"/it's", "/it's"}).text(), HasSubstr("'/it'\\''s'"));
}

}  // namespace
}  // namespace rdmablk::fuse
