#include "initiator/cli/unmount_helper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

using testing::ElementsAre;

std::vector<std::string> words(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "umount.rdmablk");
  return unmount_words(static_cast<int>(arguments.size()), arguments.data()).value();
}

TEST(UnmountHelper, IsKnownByItsName) {
  EXPECT_TRUE(is_umount_helper("/sbin/umount.rdmablk"));
  EXPECT_TRUE(is_umount_helper("/sbin/umount.fuse.rdmablk"));
  EXPECT_FALSE(is_umount_helper("/usr/bin/rdmablk"));
}

TEST(UnmountHelper, TakesWhatUmountSays) {
  EXPECT_THAT(words({"/mnt/x"}), ElementsAre("rdmablk", "unmount", "--", "/mnt/x"));
  EXPECT_THAT(words({"/mnt/x", "-n", "-v", "-t", "fuse.rdmablk"}),
              ElementsAre("rdmablk", "unmount", "--", "/mnt/x"));
  EXPECT_THAT(words({"/mnt/x", "-l"}), ElementsAre("rdmablk", "unmount", "--lazy", "--", "/mnt/x"));
  EXPECT_THROW(words({}), UsageError);
  EXPECT_THROW(words({"/mnt/x", "/mnt/y"}), UsageError);
}

}  // namespace
}  // namespace rdmablk::cli
