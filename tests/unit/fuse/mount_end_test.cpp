#include "tests/unit/fuse/held_mount.h"

namespace rdmablk::fuse {
namespace {

using Mode = HeldSource::Mode;
using Phase = HeldSource::Phase;

/// Ends mounts, and looks at what they flush.
class MountEnd : public HeldMount {
 protected:
  void write_a_block() { EXPECT_EQ(wait_for(start_dd(true, 0)), 0); }

  void synchronize() {
    const UniqueFd file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_TRUE(file);
    ASSERT_EQ(::fsync(file.get()), 0);
  }
};

TEST_F(MountEnd, FlushesWhatWasWritten) {
  mount(2, 2);
  write_a_block();
  EXPECT_EQ(source_->flushes(), 0U);
  EXPECT_TRUE(unmount());
}

TEST_F(MountEnd, TellsThatItCouldNotFlush) {
  mount(2, 2);
  write_a_block();
  source_->set_flush_error(EIO);
  EXPECT_FALSE(unmount());
}

TEST_F(MountEnd, HasNothingToTellAfterAFlush) {
  mount(2, 2);
  write_a_block();
  synchronize();
  EXPECT_EQ(source_->flushes(), 1U);
  source_->set_flush_error(EIO);  // there is none any more
  source_->set_phase(Phase::reconnecting);
  EXPECT_TRUE(unmount());
}

TEST_F(MountEnd, AFlushThatFailsCoversNothing) {
  mount(1, 4);
  write_a_block();
  source_->set_flush_error(EIO);
  const UniqueFd file(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_NE(::fsync(file.get()), 0);
  source_->set_phase(Phase::lost);
  EXPECT_FALSE(unmount());
}

/// With a target that never answers, whatever was waited for would hang.
TEST_F(MountEnd, WaitsForNothingWhileTheTargetIsAway) {
  mount(2, 2);
  write_a_block();
  source_->set_mode(Mode::waiting);
  source_->set_phase(Phase::reconnecting);
  const pid_t dd = start_dd(true, 1);
  source_->wait_until_held(1);
  testing::internal::CaptureStdout();
  EXPECT_FALSE(unmount());
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("1 request failed: the target is away"), std::string::npos) << text;
  EXPECT_NE(text.find("there is no last flush"), std::string::npos) << text;
  EXPECT_NE(wait_for(dd), 0);
}

}  // namespace
}  // namespace rdmablk::fuse
