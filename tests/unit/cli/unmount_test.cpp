#include "initiator/cli/unmount.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

using testing::HasSubstr;

std::string complaint(const std::string& path) {
  try {
    find_rdmablk_mount(path, "unmount");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FindRdmablkMount, SaysThatNothingIsMounted) {
  EXPECT_EQ(complaint("/proc/self"), "cannot unmount '/proc/self': nothing is mounted there");
  EXPECT_EQ(complaint("/none-such"), "cannot unmount '/none-such': nothing is mounted there");
  EXPECT_EQ(complaint("none-such"), "cannot unmount 'none-such': nothing is mounted there");
}

TEST(FindRdmablkMount, SaysThatTheDirectoryIsMissing) {
  EXPECT_EQ(complaint("/none-such/disk"),
            "cannot unmount '/none-such/disk': No such file or directory");
}

TEST(FindRdmablkMount, LeavesOtherMountsAlone) {
  for (const char* path : {"/proc", "/proc/", "//proc", "/sys/../proc", "/proc/."}) {
    EXPECT_EQ(complaint(path),
              "cannot unmount '/proc': it is no mount of rdmablk, but of type proc")
        << path;
  }
}

TEST(FindRdmablkMount, FollowsASymbolicLink) {
  const std::string link = testing::TempDir() + "rdmablk-link-" + std::to_string(getpid());
  ASSERT_EQ(symlink("/proc", link.c_str()), 0);
  const std::string text = complaint(link);
  unlink(link.c_str());
  EXPECT_THAT(text, HasSubstr("cannot unmount '/proc': it is no mount of rdmablk"));
}

}  // namespace
}  // namespace rdmablk::cli
