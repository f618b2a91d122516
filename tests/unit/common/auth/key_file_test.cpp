#include "common/auth/key_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/auth/secret_file.h"
#include "common/error.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::auth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDigits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const std::string kText = "rdmablk-key-1:" + kDigits;

class KeyFileTest : public ::testing::Test {
 protected:
  std::string make(const std::string& content, mode_t mode = 0600) {
    std::string path = directory_.path("key");
    std::ofstream(path) << content;
    ::chmod(path.c_str(), mode);
    return path;
  }

  static std::string error_of(const std::string& path) {
    try {
      read_key_file(path);
      return "(none)";
    } catch (const Error& error) {
      return error.what();
    }
  }

  target::ScratchDirectory directory_;
};

TEST_F(KeyFileTest, HasOneKey) {
  const auto keys = read_key_file(make(kText + "\n"));
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].client, "");
  EXPECT_EQ(keys[0].key, *Key::parse(kText));
}

TEST_F(KeyFileTest, MayEndWithoutANewLine) {
  EXPECT_EQ(read_key_file(make(kText)).size(), 1U);
}

TEST_F(KeyFileTest, HasCommentsAndNames) {
  const auto keys = read_key_file(
      make("# of the lab\n\n  \t\n alice\t" + kText + " \r\n  # more\nbob-2.x " + kText + "\n"));
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].client, "alice");
  EXPECT_EQ(keys[1].client, "bob-2.x");
}

TEST_F(KeyFileTest, MayBeEmpty) {
  EXPECT_TRUE(read_key_file(make("")).empty());
}

TEST_F(KeyFileTest, ShowsTheLineThatIsWrongAndNothingOfIt) {
  const std::vector<std::string> lines{kDigits,
                                       kText + "0",
                                       kText.substr(0, 40),
                                       "alice",
                                       "alice " + kText + " bob",
                                       "-alice " + kText,
                                       std::string(64, 'a') + " " + kText,
                                       "alice " + kDigits,
                                       kText + " alice",
                                       "al/ice " + kText};
  for (const std::string& wrong : lines) {
    const std::string path = make("# first\n" + wrong + "\n");
    EXPECT_THAT(error_of(path), AllOf(HasSubstr(path), HasSubstr("line 2"),
                                      Not(HasSubstr("0001020304")), Not(HasSubstr("alice"))));
  }
}

TEST_F(KeyFileTest, IsForItsOwnerAlone) {
  for (const mode_t mode : {0640U, 0620U, 0610U, 0604U, 0602U, 0601U, 0777U}) {
    EXPECT_THAT(error_of(make(kText, mode)),
                AllOf(HasSubstr("its mode is"), HasSubstr("chmod 600")))
        << std::oct << mode;
  }
  for (const mode_t mode : {0600U, 0400U, 0700U}) {
    EXPECT_EQ(error_of(make(kText, mode)), "(none)") << std::oct << mode;
  }
}

TEST_F(KeyFileTest, BelongsToRootOrToOneself) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes root to give a file away";
  const std::string path = make(kText);
  ASSERT_EQ(::chown(path.c_str(), 12345, 0), 0);
  EXPECT_THAT(error_of(path), HasSubstr("it belongs to user 12345"));
}

TEST_F(KeyFileTest, IsNoLinkNorAnythingElse) {
  const std::string link = directory_.path("link");
  std::filesystem::create_symlink(make(kText), link);
  EXPECT_THAT(error_of(link), HasSubstr("symbolic link"));
  const std::string pipe = directory_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error_of(pipe), HasSubstr("no regular file"));
  EXPECT_THAT(error_of(directory_.path()), HasSubstr("no regular file"));
  EXPECT_THAT(error_of("/dev/null"), HasSubstr("no regular file"));
  EXPECT_THAT(error_of(directory_.path("missing")), HasSubstr("No such file"));
}

TEST_F(KeyFileTest, HasALimit) {
  const std::string path = make("");
  std::filesystem::resize_file(path, kMaxSecretFile + 1);
  EXPECT_THAT(error_of(path), HasSubstr("are the most"));
}

TEST_F(KeyFileTest, IsMadeForItsOwnerAlone) {
  const std::string path = directory_.path("new");
  const mode_t before = ::umask(0);
  create_secret_file(path, kText);
  ::umask(before);
  struct stat file {};
  ASSERT_EQ(::stat(path.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & ALLPERMS, 0600U);
  EXPECT_EQ(read_secret_file(path).view(), kText);
}

TEST_F(KeyFileTest, IsNeverOverwritten) {
  const std::string path = make("precious");
  EXPECT_THROW(create_secret_file(path, kText), Error);
  EXPECT_EQ(read_secret_file(path).view(), "precious");
  const std::string link = directory_.path("link");
  std::filesystem::create_symlink(directory_.path("elsewhere"), link);
  EXPECT_THROW(create_secret_file(link, kText), Error);
  EXPECT_FALSE(std::filesystem::exists(directory_.path("elsewhere")));
}

TEST_F(KeyFileTest, LeavesNothingThatCouldNotBeWritten) {
  EXPECT_THROW(create_secret_file(directory_.path("missing/new"), kText), Error);
  EXPECT_TRUE(directory_.is_empty());
}

}  // namespace
}  // namespace rdmablk::auth
