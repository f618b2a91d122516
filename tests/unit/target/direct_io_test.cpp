#include "target/direct_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "error_of.h"
#include "scratch_directory.h"
#include "target/backing_file.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

bool is_direct(int fd) {
  return (::fcntl(fd, F_GETFL) & O_DIRECT) != 0;
}

/// On a disk, or in memory.
class DirectIoTest : public ::testing::TestWithParam<const char*> {
 protected:
  BackingFile open(std::uint64_t size, const std::string& direct) {
    const auto path = scratch_.make("disk.img", size);
    return BackingFile(parse_export_spec("disk=file:" + path + ",direct=" + direct));
  }
  std::string open_error(std::uint64_t size, const std::string& direct) {
    return error_of<Error>([&] { open(size, direct); });
  }

  ScratchDirectory scratch_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(FileSystems, DirectIoTest, ::testing::Values("/tmp", "/dev/shm"));

TEST_P(DirectIoTest, DescriptorDoesWhatTheFileSays) {
  const auto file = open(kMiB, "auto");
  EXPECT_EQ(is_direct(file.fd()), file.is_direct());
  if (!file.is_direct()) GTEST_SKIP() << file.describe();
  EXPECT_EQ(file.block_size(), file.alignment());
  EXPECT_EQ(file.describe(), "disk.img, direct, block " + std::to_string(file.alignment()));
  const auto memory = MemoryMapping::anonymous(file.alignment());
  const auto block = static_cast<ssize_t>(file.alignment());
  EXPECT_EQ(::pwrite(file.fd(), memory.data(), file.alignment(), block), block);
  EXPECT_EQ(::pread(file.fd(), memory.data(), file.alignment(), block), block);
}

TEST_P(DirectIoTest, IsOffWhenAskedFor) {
  const auto file = open(kMiB, "off");
  EXPECT_FALSE(is_direct(file.fd()));
  EXPECT_FALSE(file.is_direct());
  EXPECT_EQ(file.alignment(), 1U);
  EXPECT_EQ(file.block_size(), 4096U);
  EXPECT_EQ(file.describe(), "disk.img, buffered: direct=off");
}

TEST_P(DirectIoTest, OnIsAnErrorWhereAutomaticFallsBack) {
  // Half a page: more than some take, and less than none.
  const auto file = open(kMiB + 512, "auto");
  if (file.is_direct()) {
    EXPECT_EQ(file.alignment(), 512U);
    return;
  }
  EXPECT_FALSE(is_direct(file.fd()));
  EXPECT_EQ(file.alignment(), 1U);
  ScratchDirectory other(GetParam());
  const auto path = other.make("disk.img", kMiB + 512);
  EXPECT_THAT(
      error_of<Error>([&] { BackingFile(parse_export_spec("disk=file:" + path + ",direct=on")); }),
      HasSubstr("direct=on is impossible: "));
}

TEST_P(DirectIoTest, FailureTakesAwayWhatWasMade) {
  const auto path = scratch_.path("new.img");
  const auto spec = parse_export_spec("disk=file:" + path + ",size=1049088,direct=on");
  try {
    const BackingFile file(spec);
    EXPECT_EQ(file.alignment(), 512U);
  } catch (const Error&) {
    EXPECT_TRUE(scratch_.is_empty());
  }
}

/// A file system without direct I/O is on every machine.
TEST(NoDirectIoTest, IsSaidAndLeavesTheDescriptorAlone) {
  const UniqueFd fd(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  const auto found = enable_direct_io(fd.get(), 4096);
  EXPECT_EQ(found.block, 0U);
  EXPECT_THAT(found.reason, HasSubstr("takes no direct I/O"));
  EXPECT_FALSE(is_direct(fd.get()));
}

}  // namespace
}  // namespace rdmablk::target
