#include "target/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "error_of.h"
#include "file_size_limit.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

class StateDirectoryTest : public ::testing::Test {
 protected:
  ScratchDirectory scratch_;
  StateDirectory directory_{scratch_.path("var/state/")};
};

TEST_F(StateDirectoryTest, IsMadeForItsOwnerAlone) {
  struct stat status {};
  ASSERT_EQ(::stat(scratch_.path("var/state").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  EXPECT_EQ(directory_.path(), scratch_.path("var/state"));
}

TEST_F(StateDirectoryTest, ReadsWhatItWrote) {
  EXPECT_EQ(directory_.read("a"), std::nullopt);
  directory_.write("a", "one");
  directory_.write("a", "two");
  EXPECT_THAT(directory_.read("a"), Optional(std::string("two")));
  EXPECT_EQ(StateDirectory(directory_.path()).read("a"), "two");
}

TEST_F(StateDirectoryTest, LeavesNothingButItsFiles) {
  directory_.write("a", "one");
  directory_.remove("a");
  directory_.remove("a");
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(StateDirectoryTest, KeepsTheOldContentWhenTheNewOneDoesNotFit) {
  directory_.write("a", "old");
  {
    const FileSizeLimit limit(3);
    EXPECT_THAT(error_of<SystemError>([&] { directory_.write("a", "a new one"); }),
                HasSubstr(directory_.path() + "/a"));
  }
  EXPECT_EQ(directory_.read("a"), "old");
  directory_.remove("a");
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(StateDirectoryTest, FollowsNoLinks) {
  scratch_.make("elsewhere", 4);
  std::filesystem::create_symlink(scratch_.path("elsewhere"), directory_.path() + "/a.new");
  std::filesystem::create_symlink(scratch_.path("elsewhere"), directory_.path() + "/b");
  directory_.write("a", "mine");
  EXPECT_EQ(directory_.read("a"), "mine");
  std::ifstream elsewhere(scratch_.path("elsewhere"));
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>(elsewhere), {}}), std::string(4, '\0'));
  EXPECT_THROW(directory_.read("b"), SystemError);
}

TEST_F(StateDirectoryTest, ReadsNoMoreThanItWouldWrite) {
  scratch_.make("var/state/large", std::uint64_t{1} << 30);
  EXPECT_THROW(directory_.read("large"), SystemError);
}

TEST(StateDirectoryErrorTest, NamesTheDirectoryAndTheOption) {
  const ScratchDirectory scratch;
  scratch.make("file", 1);
  for (const auto& path : {scratch.path("file"), scratch.path("file/below")}) {
    EXPECT_THAT(error_of<Error>([&] { StateDirectory{path}; }),
                AllOf(HasSubstr(path), HasSubstr("--state-dir")));
  }
}

TEST(StateDirectoryErrorTest, RefusesWhatOthersMayWrite) {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("state");
  std::filesystem::create_directory(path);
  for (const unsigned mode : {0770U, 0702U, 01777U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_THAT(error_of<Error>([&] { StateDirectory{path}; }),
                AllOf(HasSubstr(path), HasSubstr("chmod go-w"), HasSubstr("--state-dir")))
        << mode;
  }
  ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  EXPECT_NO_THROW(StateDirectory{path});
}

TEST(StateDirectoryErrorTest, RefusesWhatBelongsToSomebodyElse) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  const ScratchDirectory scratch;
  const std::string path = scratch.path("state");
  std::filesystem::create_directory(path);
  if (::chown(path.c_str(), 1, 1) != 0) GTEST_SKIP() << "there is no other user";
  EXPECT_THAT(error_of<Error>([&] { StateDirectory{path}; }),
              AllOf(HasSubstr("belongs to user 1"), HasSubstr("chown")));
}

TEST(StateDirectoryPlaceTest, IsTheServiceManagersFirst) {
  ::setenv("STATE_DIRECTORY", "/run/a:/run/b", 1);
  EXPECT_EQ(default_state_directory(), "/run/a");
  ::unsetenv("STATE_DIRECTORY");
  ::setenv("XDG_STATE_HOME", "/home/x/state", 1);
  EXPECT_EQ(default_state_directory(),
            ::geteuid() == 0 ? "/var/lib/rdmablk" : "/home/x/state/rdmablk");
}

}  // namespace
}  // namespace rdmablk::target
