#include "common/mount_control.h"

#include <sys/ioctl.h>

#include "tests/unit/fuse/held_mount.h"

namespace rdmablk::fuse {
namespace {

using mount_control::Activity;
using mount_control::Change;
using mount_control::kGetActivity;
using mount_control::kGetStatus;
using mount_control::kNever;
using mount_control::kSetTimes;
using mount_control::Status;
using std::chrono::milliseconds;

class MountControl : public HeldMount {
 protected:
  void SetUp() override {
    HeldMount::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    mount(1, 4);
    file_.reset(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(file_);
  }

  void TearDown() override {
    file_.reset();
    HeldMount::TearDown();
  }

  /// @return 0 or an errno value.
  int set(std::uint32_t what, const mount_control::Times& times, std::uint32_t version = 1) {
    Change change{version, what, times};
    return ::ioctl(file_.get(), kSetTimes, &change) == 0 ? 0 : errno;
  }

  UniqueFd file_;
};

TEST_F(MountControl, TellsHowItGoes) {
  source_->set_phase(HeldSource::Phase::failing);
  Status status{};
  ASSERT_EQ(::ioctl(file_.get(), kGetStatus, &status), 0);
  EXPECT_EQ(status.version, Status::kVersion);
  EXPECT_EQ(status.phase, mount_control::Phase::failing);
  EXPECT_EQ(status.reconnects, 3U);
  EXPECT_STREQ(status.reason, "the test says so");
  EXPECT_EQ(status.times.reconnect_delay, 2000U);
  EXPECT_EQ(status.times.fail_fast, kNever);
  EXPECT_EQ(status.times.give_up, 600'000U);
}

TEST_F(MountControl, TellsWhatItWorksOn) {
  Activity activity{};
  ASSERT_EQ(::ioctl(file_.get(), kGetActivity, &activity), 0);
  EXPECT_EQ(activity.version, Activity::kVersion);
  EXPECT_EQ(activity.workers, 1U);
  EXPECT_EQ(activity.queue_depth, 4U);
  EXPECT_EQ(activity.size, kSize);
  EXPECT_EQ(activity.in_flight, 0U);
  EXPECT_EQ(activity.oldest_age, 0U);
  EXPECT_STREQ(activity.uri, "");
}

TEST_F(MountControl, CountsWhatIsUnderWay) {
  source_->set_mode(HeldSource::Mode::in_flight);
  const auto before = std::chrono::steady_clock::now();
  const pid_t first = start_dd(false, 0);
  source_->wait_until_held(1);
  const pid_t second = start_dd(false, 1);
  source_->wait_until_held(2);
  Activity activity{};
  ASSERT_EQ(::ioctl(file_.get(), kGetActivity, &activity), 0);
  const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - before);
  EXPECT_EQ(activity.in_flight, 2U);
  EXPECT_EQ(activity.waiting, 0U);
  EXPECT_GT(activity.oldest_age, 0U);
  EXPECT_LE(activity.oldest_age, static_cast<std::uint64_t>(passed.count()));
  source_->set_mode(HeldSource::Mode::done);
  EXPECT_EQ(wait_for(first), 0);
  EXPECT_EQ(wait_for(second), 0);
  ASSERT_EQ(::ioctl(file_.get(), kGetActivity, &activity), 0);
  EXPECT_EQ(activity.in_flight, 0U);
}

TEST_F(MountControl, SetsWhatIsMeant) {
  EXPECT_EQ(set(Change::kFailFast, {0, 1500, 0}), 0);
  EXPECT_EQ(source_->recovery().fail_fast, milliseconds(1500));
  EXPECT_EQ(source_->recovery().give_up, milliseconds(600'000));
  EXPECT_EQ(source_->recovery().reconnect_delay, milliseconds(2000));
  EXPECT_EQ(set(Change::kReconnectDelay | Change::kGiveUp, {10, 0, kNever}), 0);
  EXPECT_EQ(source_->recovery().reconnect_delay, milliseconds(10));
  EXPECT_EQ(source_->recovery().give_up, std::nullopt);
  EXPECT_EQ(source_->recovery().fail_fast, milliseconds(1500));
}

TEST_F(MountControl, RefusesWhatMakesNoSense) {
  EXPECT_EQ(set(Change::kReconnectDelay, {0, 1, 1}), EINVAL);
  EXPECT_EQ(set(Change::kReconnectDelay, {kNever, 1, 1}), EINVAL);
  EXPECT_EQ(set(Change::kFailFast, {1, kNever - 1, 1}), EINVAL);
  EXPECT_EQ(set(Change::kGiveUp, {1, 1, mount_control::kMaxTime + 1}), EINVAL);
  EXPECT_EQ(set(8, {1, 1, 1}), EINVAL);
  EXPECT_EQ(set(Change::kFailFast, {1, 1, 1}, 2), EINVAL);
  EXPECT_EQ(source_->recovery().fail_fast, std::nullopt);
  EXPECT_EQ(::ioctl(file_.get(), _IO(mount_control::kType, 1), nullptr), -1);
  EXPECT_EQ(errno, ENOTTY);
}

/// In a child, as another user, who got the open file from somebody.
TEST_F(MountControl, IsNotForOtherUsers) {
  const pid_t child = ::fork();
  if (child == 0) {
    Status status{};
    const bool refused = ::setresuid(65534, 65534, 65534) == 0 &&
                         ::ioctl(file_.get(), kGetStatus, &status) != 0 && errno == EPERM;
    ::_exit(refused ? 0 : 1);
  }
  EXPECT_EQ(wait_for(child), 0);
}

}  // namespace
}  // namespace rdmablk::fuse
