#include "common/pid_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk {
namespace {

class PidFileTest : public testing::Test {
 protected:
  PidFileTest() {
    std::string pattern = testing::TempDir() + "pid_file-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    path_ = directory_ + "/daemon.pid";
  }
  ~PidFileTest() override { std::filesystem::remove_all(directory_); }

  std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Leaves a file as a process of that number has it, or had it.
  void leave(const std::string& content, bool locked) {
    std::ofstream(path_) << content;
    other_.reset(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (locked) ::flock(other_.get(), LOCK_EX);
  }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_), {}));
  }

  std::string directory_;
  std::string path_;
  UniqueFd other_;
};

TEST_F(PidFileTest, IsThereFromReadinessToTheEnd) {
  {
    PidFile file(path_);
    EXPECT_EQ(entries(), 0U);
    file.write();
    EXPECT_EQ(content(), std::to_string(::getpid()) + "\n");
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(PidFileTest, RefusesThatOfAProcessThatLives) {
  leave("4711\n", true);
  EXPECT_THROW(PidFile{path_}, Error);
  EXPECT_EQ(content(), "4711\n");
}

TEST_F(PidFileTest, RefusesOneThatCameMeanwhile) {
  PidFile file(path_);
  leave("4711\n", true);
  EXPECT_THROW(file.write(), Error);
  EXPECT_EQ(content(), "4711\n");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(PidFileTest, ReplacesThatOfOneThatWasKilled) {
  leave(std::to_string(::getppid()) + "\n", false);
  PidFile file(path_);
  file.write();
  EXPECT_EQ(content(), std::to_string(::getpid()) + "\n");
}

TEST_F(PidFileTest, ReplacesThatOfItsPredecessor) {
  leave("4711\n", true);
  PidFile file(path_, 4711);
  file.write();
  EXPECT_EQ(content(), std::to_string(::getpid()) + "\n");
}

TEST_F(PidFileTest, LeavesThatOfItsSuccessor) {
  std::optional<PidFile> file(std::in_place, path_);
  file->write();
  PidFile successor(path_, ::getpid());
  successor.write();
  file.reset();
  EXPECT_EQ(content(), std::to_string(::getpid()) + "\n");
}

TEST_F(PidFileTest, IsNoOtherFile) {
  leave("[section]\n", false);
  EXPECT_THROW(PidFile{path_}, Error);
  EXPECT_THROW(PidFile{directory_}, Error);
  EXPECT_EQ(content(), "[section]\n");
}

TEST_F(PidFileTest, SaysWhenItCannotBeWritten) {
  PidFile file(directory_ + "/none/daemon.pid");
  EXPECT_THROW(file.write(), SystemError);
}

}  // namespace
}  // namespace rdmablk
