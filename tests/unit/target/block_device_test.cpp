#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "error_of.h"
#include "scratch_directory.h"
#include "target/backing_file.h"

namespace rdmablk::target {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A loop device over a file, which the kernel detaches when its last user is gone.
class LoopDevice {
 public:
  LoopDevice(const std::string& file, std::uint32_t block_size) {
    const UniqueFd backing(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    if (!control) return;
    loop_config config{};
    config.fd = static_cast<__u32>(backing.get());
    config.block_size = block_size;
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    do {
      const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
      path_ = "/dev/loop" + std::to_string(number);
      fd_.reset(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
      if (!fd_) return;
      if (::ioctl(fd_.get(), LOOP_CONFIGURE, &config) == 0) return;
    } while (errno == EBUSY);  // another was faster
    fd_.reset();
  }

  /// Follows its file, which is given another size first.
  void resize(const std::string& file, std::uint64_t size) const {
    std::filesystem::resize_file(file, size);
    ASSERT_EQ(::ioctl(fd_.get(), LOOP_SET_CAPACITY), 0) << errno_text(errno);
  }

  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  UniqueFd fd_;
};

class BlockDeviceTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    if (!device_) GTEST_SKIP() << "needs root and loop devices";
  }
  ExportSpec spec(const std::string& options = {}) const {
    return parse_export_spec("disk=file:" + device_.path() + options);
  }
  std::string error(const std::string& options = {}) const {
    return error_of<Error>([&] { BackingFile(spec(options), std::chrono::milliseconds(0)); });
  }

  ScratchDirectory scratch_;
  LoopDevice device_{scratch_.make("disk.img", kMiB), GetParam()};
};

INSTANTIATE_TEST_SUITE_P(BlockSizes, BlockDeviceTest, ::testing::Values(512U, 4096U));

TEST_P(BlockDeviceTest, IsServedDirectlyInItsBlocks) {
  const BackingFile file(spec(",size=1M"));
  EXPECT_TRUE(file.is_block_device());
  EXPECT_EQ(file.size(), kMiB);
  EXPECT_EQ(file.alignment(), GetParam());
  EXPECT_EQ(file.describe(), std::string(file.base_name()) + ", block device, direct, block " +
                                 std::to_string(GetParam()));
  const auto memory = MemoryMapping::anonymous(GetParam());
  const auto block = static_cast<ssize_t>(GetParam());
  EXPECT_EQ(::pwrite(file.fd(), memory.data(), GetParam(), block), block);
  EXPECT_EQ(::pread(file.fd(), memory.data(), GetParam(), block), block);
}

TEST_P(BlockDeviceTest, CountsAsStored) {
  const BackingFile file(spec());
  std::array<protocol::Extent, 4> extents;
  std::size_t count = 0;
  ASSERT_EQ(file.map(512, 2 * kMiB, extents, count), 0);
  ASSERT_EQ(count, 1U);
  EXPECT_FALSE(extents[0].is_hole);
  EXPECT_EQ(extents[0].length, kMiB - 512);
}

TEST_P(BlockDeviceTest, IsNotResized) {
  EXPECT_THAT(error(",size=2M"), HasSubstr("it has 1048576 bytes"));
}

TEST_P(BlockDeviceTest, TellsTheSizeThatItHasGot) {
  BackingFile file(spec());
  EXPECT_FALSE(file.can_resize());
  EXPECT_EQ(file.found_size(), kMiB);
  const auto refusal = [&](std::uint64_t size) {
    return error_of<Error>([&] { file.check_has(size); });
  };
  EXPECT_THAT(refusal(2 * kMiB), HasSubstr("has 1048576 bytes"));
  for (const std::uint64_t size : {2 * kMiB, kMiB / 2}) {
    device_.resize(scratch_.path("disk.img"), size);
    EXPECT_EQ(file.found_size(), size);
    EXPECT_THAT(refusal(size), IsEmpty());
    EXPECT_THAT(refusal(kMiB), HasSubstr("resize the device first"));
  }
  EXPECT_EQ(file.size(), kMiB) << "until it is told";
}

TEST_P(BlockDeviceTest, IsWrittenByOneAlone) {
  const BackingFile file(spec());
  EXPECT_THAT(error(), HasSubstr("another program or export, or the kernel"));
  EXPECT_THAT(error(",readonly"), HasSubstr("locked it"));
}

TEST_P(BlockDeviceTest, MayBeShared) {
  const BackingFile file(spec(",readonly"));
  EXPECT_THAT(error(",readonly"), IsEmpty());
  EXPECT_THAT(error(), HasSubstr("locked it"));
}

/// With a file system on it, in a mount namespace that ends with this process.
class MountedDeviceTest : public BlockDeviceTest {
 protected:
  void SetUp() override {
    BlockDeviceTest::SetUp();
    if (IsSkipped()) return;
    if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << "needs root";
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    const std::string make = "mke2fs -q -t ext4 -F " + device_.path() + " >/dev/null 2>&1";
    if (std::system(make.c_str()) != 0) GTEST_SKIP() << "needs mke2fs";
    std::filesystem::create_directory(directory_);
    ASSERT_EQ(::mount(device_.path().c_str(), directory_.c_str(), "ext4", 0, nullptr), 0)
        << errno_text(errno);
  }
  void TearDown() override { ::umount2(directory_.c_str(), MNT_DETACH); }

  std::string directory_ = scratch_.path("mnt");
};

INSTANTIATE_TEST_SUITE_P(BlockSizes, MountedDeviceTest, ::testing::Values(512U, 4096U));

TEST_P(MountedDeviceTest, IsRefusedAtOnce) {
  EXPECT_THAT(error_of<Error>([&] { BackingFile(spec(), std::chrono::hours(1)); }),
              HasSubstr("it is mounted at '" + directory_ + "'"));
}

TEST_P(MountedDeviceTest, FilesNeedItsBlocks) {
  const auto open = [&](const char* options) {
    return BackingFile(parse_export_spec("disk=file:" + directory_ + options));
  };
  EXPECT_EQ(open("/even.img,size=64K").alignment(), GetParam());
  const auto odd = open("/odd.img,size=66048");
  if (GetParam() == 512) {
    EXPECT_EQ(odd.alignment(), 512U);
  } else {
    EXPECT_EQ(odd.describe(), "odd.img, buffered: its size is no multiple of 4096");
  }
}

}  // namespace
}  // namespace rdmablk::target
