#include "common/file_replacement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "common/error.h"

namespace rdmablk {
namespace {

class FileReplacementTest : public testing::Test {
 protected:
  FileReplacementTest() {
    std::string pattern = testing::TempDir() + "file_replacement-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ + "/file";
    std::ofstream(path_) << "old";
  }
  ~FileReplacementTest() override { std::filesystem::remove_all(directory_); }

  std::string content(const std::string& name) const {
    std::ifstream file(directory_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool exists(const std::string& name) const {
    return std::filesystem::exists(directory_ + "/" + name);
  }

  std::string directory_;
  std::string path_;
};

TEST_F(FileReplacementTest, TakesItsPlaceAsAWhole) {
  FileReplacement file(AT_FDCWD, path_, path_ + ".new", 0640);
  file.write("new ");
  file.write("content");
  file.sync();
  EXPECT_EQ(content("file"), "old");
  const UniqueFd fd = file.take_place();
  EXPECT_EQ(content("file"), "new content");
  EXPECT_FALSE(exists("file.new"));
  struct stat opened {};
  struct stat named {};
  ASSERT_EQ(::fstat(fd.get(), &opened), 0);
  ASSERT_EQ(::stat(path_.c_str(), &named), 0);
  EXPECT_EQ(opened.st_ino, named.st_ino);
  EXPECT_EQ(named.st_mode & 0777U & ~0640U, 0U);
}

TEST_F(FileReplacementTest, GoesAwayUnlessItHasTakenItsPlace) {
  {
    const FileReplacement file(AT_FDCWD, path_, path_ + ".new", 0600);
    file.write("new");
    EXPECT_TRUE(exists("file.new"));
  }
  EXPECT_FALSE(exists("file.new"));
  EXPECT_EQ(content("file"), "old");
}

TEST_F(FileReplacementTest, IsMadeAnewInADirectory) {
  const UniqueFd directory(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::ofstream(directory_ + "/left.new") << "of an earlier process";
  FileReplacement file(directory.get(), "left", "left.new", 0600);
  file.write("new");
  file.take_place();
  EXPECT_EQ(content("left"), "new");
}

TEST_F(FileReplacementTest, FollowsNoLink) {
  std::filesystem::create_symlink(path_, path_ + ".new");
  FileReplacement file(AT_FDCWD, directory_ + "/other", path_ + ".new", 0600);
  file.write("new");
  file.take_place();
  EXPECT_EQ(content("file"), "old");
  EXPECT_EQ(content("other"), "new");
}

TEST_F(FileReplacementTest, TellsWhyItCannot) {
  try {
    const FileReplacement file(AT_FDCWD, path_, directory_ + "/none/new", 0600);
    ADD_FAILURE() << "it is made in a directory that is not there";
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error(), ENOENT);
  }
  FileReplacement file(AT_FDCWD, directory_, path_ + ".new", 0600);
  EXPECT_THROW(file.take_place(), SystemError) << "a directory has its place";
}

}  // namespace
}  // namespace rdmablk
