#include "target/backing_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>

#include "common/error.h"
#include "error_of.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

struct stat status_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status;
}

class BackingFileTest : public ::testing::Test {
 protected:
  static ExportSpec spec(const std::string& path, const std::string& options = {}) {
    return parse_export_spec("disk=file:" + path + options);
  }
  static std::string error(const ExportSpec& spec) {
    return error_of<Error>([&] { BackingFile(spec, std::chrono::milliseconds(0)); });
  }

  ScratchDirectory scratch_;
};

TEST_F(BackingFileTest, OpensWhatExists) {
  const auto path = scratch_.make("disk.img", kMiB);
  const BackingFile file(spec(path));
  EXPECT_EQ(file.size(), kMiB);
  EXPECT_EQ(file.path(), path);
  EXPECT_EQ(file.base_name(), "disk.img");
  EXPECT_FALSE(file.read_only());
  EXPECT_FALSE(file.is_block_device());
  EXPECT_EQ(::fcntl(file.fd(), F_GETFL) & O_ACCMODE, O_RDWR);
  EXPECT_EQ(::fcntl(file.fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(BackingFileTest, TakesTheSizeThatIsThere) {
  const auto path = scratch_.make("disk.img", kMiB);
  EXPECT_EQ(BackingFile(spec(path, ",size=1M")).size(), kMiB);
}

TEST_F(BackingFileTest, ResizesNothing) {
  const auto path = scratch_.make("disk.img", kMiB);
  for (const char* size : {",size=2M", ",size=512K"}) {
    EXPECT_THAT(error(spec(path, size)), HasSubstr("it has 1048576 bytes, not the"));
    EXPECT_EQ(status_of(path).st_size, static_cast<off_t>(kMiB));
  }
}

TEST_F(BackingFileTest, MakesAndAllocatesAMissingFile) {
  const auto path = scratch_.path("disk.img");
  const BackingFile file(spec(path, ",size=1M"));
  EXPECT_EQ(file.size(), kMiB);
  EXPECT_EQ(status_of(path).st_mode & 07777, 0600U);
  EXPECT_GE(status_of(path).st_blocks, static_cast<blkcnt_t>(kMiB / 512));
}

TEST_F(BackingFileTest, MakesASparseFile) {
  const auto path = scratch_.path("disk.img");
  const BackingFile file(spec(path, ",size=1T,sparse"));
  EXPECT_EQ(file.size(), kMiB << 20);
  EXPECT_LT(status_of(path).st_blocks, 64);
}

TEST_F(BackingFileTest, NamesExportFileAndCauseInOneLine) {
  const auto path = scratch_.path("disk.img");
  EXPECT_EQ(error(spec(path)),
            "cannot export '" + path + "' as 'disk': there is no such file; size=SIZE makes it");
}

TEST_F(BackingFileTest, MakesNothingToReadOnly) {
  EXPECT_THAT(error(spec(scratch_.path("disk.img"), ",size=1M,readonly")),
              EndsWith("there is no such file"));
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(BackingFileTest, MakesNoDirectory) {
  EXPECT_THAT(error(spec(scratch_.path("no/disk.img"), ",size=1M")),
              HasSubstr("cannot open its directory: No such file"));
}

TEST_F(BackingFileTest, RefusesSizesThatAreNoSectors) {
  EXPECT_THAT(error(spec(scratch_.make("empty", 0))), HasSubstr("it is empty"));
  EXPECT_THAT(error(spec(scratch_.make("odd", 1000))),
              HasSubstr("1000 bytes, which is not a multiple of 512"));
}

TEST_F(BackingFileTest, RefusesWhatHoldsNoBytes) {
  EXPECT_THAT(error(spec(scratch_.path())), HasSubstr("it is a directory"));
  EXPECT_THAT(error(spec("/dev/null")), HasSubstr("it is a character device"));
  const auto pipe = scratch_.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(error(spec(pipe)), HasSubstr("it is a pipe"));
  ASSERT_EQ(::mknod(scratch_.path("socket").c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_THAT(error(spec(scratch_.path("socket"))), HasSubstr("it is a socket"));
}

TEST_F(BackingFileTest, FollowsLinks) {
  const auto link = scratch_.path("link");
  std::filesystem::create_symlink(scratch_.make("disk.img", kMiB), link);
  const BackingFile file(spec(link));
  EXPECT_EQ(file.base_name(), "link");
  EXPECT_EQ(file.size(), kMiB);
}

TEST_F(BackingFileTest, MakesNothingBehindALinkToNothing) {
  const auto link = scratch_.path("link");
  std::filesystem::create_symlink(scratch_.path("disk.img"), link);
  EXPECT_THAT(error(spec(link, ",size=1M")), HasSubstr("symbolic link to a file that is missing"));
  EXPECT_FALSE(std::filesystem::exists(scratch_.path("disk.img")));
}

TEST_F(BackingFileTest, ReadsOnly) {
  const BackingFile file(spec(scratch_.make("disk.img", kMiB), ",readonly"));
  EXPECT_TRUE(file.read_only());
  EXPECT_EQ(::fcntl(file.fd(), F_GETFL) & O_ACCMODE, O_RDONLY);
  EXPECT_THAT(file.describe(), HasSubstr("disk.img, read-only, "));
}

TEST_F(BackingFileTest, LeavesNothingBehindWhenTheSizeIsImpossible) {
  // More than any file of ext4, xfs or tmpfs takes at once.
  EXPECT_THAT(error(spec(scratch_.path("disk.img"), ",size=8388607T")),
              AllOf(HasSubstr("cannot allocate"), Not(HasSubstr("\n"))));
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(BackingFileTest, LeavesNothingBehindWhenTheFileSystemIsFull) {
  // A mount of our own, which ends with this process.
  if (::geteuid() != 0 || ::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(::mount("test", scratch_.path().c_str(), "tmpfs", 0, "size=1m"), 0);
  EXPECT_THAT(error(spec(scratch_.path("disk.img"), ",size=2M")),
              AllOf(HasSubstr("cannot allocate 2 MiB for it: No space left"), HasSubstr("sparse")));
  EXPECT_TRUE(scratch_.is_empty());
  EXPECT_EQ(BackingFile(spec(scratch_.path("disk.img"), ",size=2M,sparse")).size(), 2 * kMiB);
  EXPECT_EQ(::umount(scratch_.path().c_str()), 0);
}

}  // namespace
}  // namespace rdmablk::target
