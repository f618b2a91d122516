#include "target/file_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <future>

#include "common/error.h"
#include "error_of.h"
#include "scratch_directory.h"
#include "target/backing_file.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::milliseconds kNoWait{0};
constexpr std::chrono::minutes kLongWait{1};

bool lock_as(int fd, int command, short type) {
  struct flock whole {};
  whole.l_type = type;
  return ::fcntl(fd, command, &whole) == 0;
}

/// Another process, which opens a file, locks it and holds on until it is killed.
class Holder {
 public:
  Holder(const std::string& path, const std::function<bool(int fd)>& lock) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    child_ = ::fork();
    if (child_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int fd = ::open(path.c_str(), O_RDWR);
      const char done = lock(fd) ? 'y' : 'n';
      if (::write(writer.get(), &done, 1) != 1) ::_exit(1);
      while (true) ::pause();
    }
    writer.reset();
    char done = 0;
    EXPECT_EQ(::read(reader.get(), &done, 1), 1);
    EXPECT_EQ(done, 'y');
  }
  ~Holder() { kill(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
};

struct Way {
  const char* name;
  bool shared;
  std::function<bool(int)> lock;
};

const Way kWays[] = {
    {"flock", false, [](int fd) { return ::flock(fd, LOCK_EX) == 0; }},
    {"flock_shared", true, [](int fd) { return ::flock(fd, LOCK_SH) == 0; }},
    {"ofd", false, [](int fd) { return lock_as(fd, F_OFD_SETLK, F_WRLCK); }},
    {"ofd_shared", true, [](int fd) { return lock_as(fd, F_OFD_SETLK, F_RDLCK); }},
    {"posix", false, [](int fd) { return lock_as(fd, F_SETLK, F_WRLCK); }},
};

class LockedFileTest : public ::testing::TestWithParam<Way> {
 protected:
  std::string error(const char* options) const {
    const auto spec = parse_export_spec("disk=file:" + path_ + options);
    return error_of<Error>([&] { BackingFile(spec, kNoWait); });
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.make("disk.img", 4096);
};

INSTANTIATE_TEST_SUITE_P(Ways, LockedFileTest, ::testing::ValuesIn(kWays),
                         [](const auto& way) { return std::string(way.param.name); });

TEST_P(LockedFileTest, IsRefusedUnlessBothOnlyRead) {
  Holder holder(path_, GetParam().lock);
  EXPECT_THAT(error(""), HasSubstr("another program or export has locked it"));
  if (GetParam().shared) {
    EXPECT_THAT(error(",readonly"), IsEmpty());
  } else {
    EXPECT_THAT(error(",readonly"), HasSubstr("has locked it"));
  }
  holder.kill();
  EXPECT_THAT(error(""), IsEmpty());
}

class FileLockTest : public ::testing::Test {
 protected:
  bool is_open() const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      if (std::filesystem::read_symlink(entry.path(), ignored) == path_) return true;
    }
    return false;
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.make("disk.img", 4096);
  ExportSpec writer_ = parse_export_spec("disk=file:" + path_);
  ExportSpec reader_ = parse_export_spec("disk=file:" + path_ + ",readonly");
};

TEST_F(FileLockTest, KeepsOthersAwayInEveryWay) {
  const BackingFile file(writer_);
  const UniqueFd other(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_NE(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
  EXPECT_FALSE(lock_as(other.get(), F_OFD_SETLK, F_RDLCK));
  EXPECT_FALSE(lock_as(other.get(), F_SETLK, F_RDLCK));
}

TEST_F(FileLockTest, IsOnTheDescriptorOfTheIo) {
  UniqueFd duplicate;
  {
    const BackingFile file(writer_);
    duplicate.reset(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
  }
  // As a request that is under way holds it.
  EXPECT_THAT(error_of<Error>([&] { BackingFile(writer_, kNoWait); }), HasSubstr("locked it"));
  duplicate.reset();
  EXPECT_THAT(error_of<Error>([&] { BackingFile(writer_, kNoWait); }), IsEmpty());
}

TEST_F(FileLockTest, HoldsBetweenExportsOfOneProcess) {
  const BackingFile file(writer_);
  EXPECT_THAT(error_of<Error>([&] { BackingFile(writer_, kNoWait); }), HasSubstr("locked it"));
  EXPECT_THAT(error_of<Error>([&] { BackingFile(reader_, kNoWait); }), HasSubstr("locked it"));
}

TEST_F(FileLockTest, LetsReadersShare) {
  const BackingFile file(reader_);
  EXPECT_THAT(error_of<Error>([&] { BackingFile(reader_, kNoWait); }), IsEmpty());
  EXPECT_THAT(error_of<Error>([&] { BackingFile(writer_, kNoWait); }), HasSubstr("locked it"));
}

TEST_F(FileLockTest, WaitsForAHolderThatIsJustDying) {
  Holder holder(path_, [](int fd) { return ::flock(fd, LOCK_EX) == 0; });
  auto opening =
      std::async(std::launch::async, [&] { return BackingFile(writer_, kLongWait).size(); });
  const auto is_over = [&] { return opening.wait_for(kNoWait) == std::future_status::ready; };
  while (!is_open() && !is_over()) std::this_thread::yield();
  holder.kill();
  EXPECT_EQ(opening.get(), 4096U);
}

TEST_F(FileLockTest, FailsOnWhatIsNoFile) {
  EXPECT_THAT(error_of<Error>([] { lock_file(-1, false, Patience(kNoWait)); }),
              HasSubstr("cannot lock a file"));
}

}  // namespace
}  // namespace rdmablk::target
