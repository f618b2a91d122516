#include "common/loop_size.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk {
namespace {

/// A file with a loop device on it; it takes root, and a kernel with loop devices.
class LoopSize : public testing::Test {
 protected:
  LoopSize() {
    std::string name = "/var/tmp/rdmablk-loop-XXXXXX";
    file_.reset(::mkstemp(name.data()));
    path_ = name;
    EXPECT_EQ(::ftruncate(file_.get(), 1 << 20), 0);
    const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    const int number = control ? ::ioctl(control.get(), LOOP_CTL_GET_FREE) : -1;
    if (number < 0) return;
    device_ = "/dev/loop" + std::to_string(number);
    loop_.reset(::open(device_.c_str(), O_RDWR | O_CLOEXEC));
    loop_config config{};
    config.fd = static_cast<__u32>(file_.get());
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (!loop_ || ::ioctl(loop_.get(), LOOP_CONFIGURE, &config) != 0) device_.clear();
  }
  ~LoopSize() override { std::filesystem::remove(path_); }

  std::uint64_t size() const {
    std::ifstream file("/sys/block/" + device_.substr(5) + "/size");
    std::uint64_t sectors = 0;
    file >> sectors;
    return sectors * 512;
  }

  UniqueFd file_;
  UniqueFd loop_;  // closed first: then the device is free again
  std::string path_;
  std::string device_;
};

TEST_F(LoopSize, FollowsTheFile) {
  if (device_.empty()) GTEST_SKIP() << "there are no loop devices for us";
  ASSERT_EQ(::ftruncate(file_.get(), 3 << 20), 0);
  EXPECT_EQ(size(), 1U << 20U) << "nobody has told it yet";
  EXPECT_EQ(refresh_loop_sizes(path_), 1U);
  EXPECT_EQ(size(), 3U << 20U);
}

TEST_F(LoopSize, IsThatOfNoOtherFile) {
  if (device_.empty()) GTEST_SKIP() << "there are no loop devices for us";
  ASSERT_EQ(::ftruncate(file_.get(), 3 << 20), 0);
  EXPECT_EQ(refresh_loop_sizes(path_ + "x"), 0U);
  EXPECT_EQ(size(), 1U << 20U);
}

TEST(LoopSizeOf, NoDeviceIsAnError) {
  EXPECT_THROW(refresh_loop_size("/dev/null"), SystemError);
  EXPECT_THROW(refresh_loop_size("/dev/nothing"), SystemError);
}

}  // namespace
}  // namespace rdmablk
