#include "target/flush_group.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "scripted_ring.h"
#include "target/volatile_identity.h"

namespace rdmablk::target {
namespace {

/// A flush that remembers how it ended.
class RecordedFlush final : public FlushGroup::Flush {
 public:
  std::optional<int> error;
  std::function<void()> then;
  void on_flushed(int value) noexcept override {
    error = value;
    if (then) then();
  }
};

class FlushGroupTest : public ::testing::Test {
 protected:
  FlushGroupTest() {
    group_.add(one_);
    group_.add(other_);
  }

  static void write(Writer& writer) {
    writer.begin();
    writer.acknowledge();
    writer.end();
  }

  void flush(RecordedFlush& flush, const Writer* writer) { group_.flush(flush, writer, ring_); }

  FlushGroup group_{7};
  ScriptedRing ring_;
  Writer one_;
  Writer other_;
  RecordedFlush first_;
  RecordedFlush second_;
  RecordedFlush third_;
};

TEST_F(FlushGroupTest, SyncsTheFile) {
  flush(first_, &one_);
  ASSERT_EQ(ring_.in_flight(), 1U);
  EXPECT_EQ(ring_.entries()[0].kind, RingOperation::Kind::sync);
  EXPECT_EQ(ring_.entries()[0].file, 7U);
  EXPECT_FALSE(first_.error);
  ring_.end_with(0);
  EXPECT_EQ(first_.error, 0);
  EXPECT_EQ(ring_.in_flight(), 0U);
}

TEST_F(FlushGroupTest, JoinsThoseThatWait) {
  flush(first_, &one_);
  flush(second_, &one_);
  flush(third_, &other_);
  EXPECT_EQ(ring_.in_flight(), 1U);
  ring_.end_with(0);
  EXPECT_EQ(first_.error, 0);
  EXPECT_FALSE(second_.error) << "joined one that was submitted before";
  EXPECT_FALSE(third_.error);
  ASSERT_EQ(ring_.in_flight(), 1U);
  ring_.end_with(0);
  EXPECT_EQ(second_.error, 0);
  EXPECT_EQ(third_.error, 0);
  EXPECT_EQ(ring_.entries().size(), 2U);
}

TEST_F(FlushGroupTest, EndsFlushesInTheirOrder) {
  std::vector<int> order;
  RecordedFlush blocker;
  first_.then = [&] { order.push_back(1); };
  second_.then = [&] { order.push_back(2); };
  third_.then = [&] { order.push_back(3); };
  flush(blocker, nullptr);
  flush(first_, &one_);
  flush(second_, nullptr);
  flush(third_, &other_);
  ring_.end_with(0);
  ring_.end_with(0);
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST_F(FlushGroupTest, ContinuesOnTheRingWhereOneEnded) {
  ScriptedRing elsewhere;
  flush(first_, &one_);
  group_.flush(second_, &other_, elsewhere);
  ring_.end_with(0);
  EXPECT_EQ(elsewhere.in_flight(), 0U);
  EXPECT_EQ(ring_.in_flight(), 1U);
  ring_.end_with(0);
  group_.flush(third_, &other_, elsewhere);
  EXPECT_EQ(elsewhere.in_flight(), 1U);
  elsewhere.end_with(0);
  EXPECT_EQ(third_.error, 0);
}

TEST_F(FlushGroupTest, FailsThoseWhoseWritesWereCovered) {
  write(one_);
  flush(first_, &one_);
  ring_.end_with(-ENOSPC);
  EXPECT_EQ(first_.error, ENOSPC);
  EXPECT_TRUE(one_.has_failed());
  EXPECT_FALSE(other_.has_failed());
}

TEST_F(FlushGroupTest, FailsEverybodyWithWrites) {
  write(other_);
  flush(first_, &one_);
  ring_.end_with(-EIO);
  EXPECT_EQ(first_.error, EIO);
  EXPECT_FALSE(one_.has_failed()) << "wrote nothing";
  EXPECT_TRUE(other_.has_failed()) << "its writes were lost on behalf of another";
}

TEST_F(FlushGroupTest, SparesThoseWhoseWritesAreStable) {
  write(one_);
  write(other_);
  flush(first_, &one_);
  ring_.end_with(0);
  write(other_);
  flush(second_, &one_);
  ring_.end_with(-EIO);
  EXPECT_EQ(second_.error, EIO);
  EXPECT_FALSE(one_.has_failed());
  EXPECT_TRUE(other_.has_failed());
}

TEST_F(FlushGroupTest, DoesNotCountWritesAcknowledgedSinceAsStable) {
  flush(first_, &one_);
  write(one_);  // the fdatasync may have begun before it
  ring_.end_with(0);
  flush(second_, &other_);
  ring_.end_with(-EIO);
  EXPECT_TRUE(one_.has_failed());
}

TEST_F(FlushGroupTest, FailsWritesThatAreUnderWay) {
  one_.begin();
  other_.begin();
  other_.end();  // with an error of its own, not acknowledged
  flush(first_, nullptr);
  ring_.end_with(-EIO);
  one_.acknowledge();
  one_.end();
  EXPECT_TRUE(one_.has_failed()) << "the report may have been about it";
  EXPECT_FALSE(other_.has_failed());
}

TEST_F(FlushGroupTest, NeverRetriesIntoSuccess) {
  write(one_);
  flush(first_, &one_);
  ring_.end_with(-EIO);
  EXPECT_EQ(ring_.in_flight(), 0U);
  flush(second_, &one_);
  EXPECT_EQ(second_.error, EIO);
  EXPECT_EQ(ring_.in_flight(), 0U);
  flush(third_, &other_);
  ring_.end_with(0);
  EXPECT_EQ(third_.error, 0) << "nothing of it was lost";
  EXPECT_TRUE(one_.has_failed());
  second_.error.reset();
  flush(second_, &one_);
  EXPECT_EQ(second_.error, EIO);
}

TEST_F(FlushGroupTest, FailsAlsoTheFlushesThatWaitWhenOneFails) {
  write(one_);
  flush(first_, &other_);
  flush(second_, &one_);
  flush(third_, &other_);
  ring_.end_with(-EIO);
  EXPECT_FALSE(second_.error);
  ring_.end_with(0);
  EXPECT_EQ(second_.error, EIO);
  EXPECT_EQ(third_.error, 0);
}

TEST_F(FlushGroupTest, TakesEveryErrorForAFailure) {
  for (const int error : {EINTR, EAGAIN, ECANCELED, EINVAL, EROFS}) {
    FlushGroup group(0);
    Writer writer;
    group.add(writer);
    write(writer);
    RecordedFlush flush;
    group.flush(flush, &writer, ring_);
    ring_.end_with(-error);
    EXPECT_EQ(ring_.in_flight(), 0U);
    EXPECT_EQ(flush.error, error == EINVAL || error == EROFS ? error : EIO);
    EXPECT_TRUE(writer.has_failed());
  }
}

TEST_F(FlushGroupTest, FailsWithADurableWrite) {
  write(one_);
  flush(first_, &one_);
  flush(second_, &other_);
  group_.fail();
  EXPECT_TRUE(one_.has_failed());
  EXPECT_FALSE(other_.has_failed());
  ring_.end_with(0);
  ring_.end_with(0);
  EXPECT_EQ(first_.error, EIO);
  EXPECT_EQ(second_.error, 0);
}

TEST_F(FlushGroupTest, AFailureChangesTheGenerationBeforeAnybodyIsTold) {
  VolatileIdentity identity;
  group_.tell_losses(identity);
  const auto before = identity.generation();
  write(one_);
  flush(first_, &one_);
  ring_.end_with(0);
  EXPECT_EQ(identity.generation(), before);
  first_.then = [&] { EXPECT_NE(identity.generation(), before); };
  flush(first_, &one_);
  ring_.end_with(-EIO);
  EXPECT_EQ(first_.error, EIO);
  const auto then = identity.generation();
  group_.fail();
  EXPECT_NE(identity.generation(), then);
}

TEST_F(FlushGroupTest, AFailureIsTheLossOfThoseWhoAreAway) {
  VolatileIdentity identity;
  group_.tell_losses(identity);
  const auto before = identity.generation();
  group_.remove(one_);
  group_.remove(other_);
  flush(first_, nullptr);
  ring_.end_with(-EIO);
  EXPECT_NE(identity.generation(), before);
}

TEST_F(FlushGroupTest, ForgetsAWriter) {
  {
    Writer passing;
    group_.add(passing);
    write(passing);
    group_.remove(passing);
  }
  flush(first_, &one_);
  ring_.end_with(-EIO);
  EXPECT_FALSE(one_.has_failed());
}

TEST_F(FlushGroupTest, TakesAWriterInTheMiddle) {
  flush(first_, &one_);
  Writer late;
  group_.add(late);
  write(late);
  ring_.end_with(0);
  flush(second_, &one_);
  ring_.end_with(-EIO);
  EXPECT_TRUE(late.has_failed());
  group_.remove(late);
}

TEST_F(FlushGroupTest, MayBeAskedAgainWithinACallback) {
  first_.then = [&] {
    first_.then = nullptr;
    flush(first_, &one_);
  };
  flush(first_, &one_);
  flush(second_, &other_);
  ring_.end_with(0);
  ring_.end_with(0);
  EXPECT_EQ(second_.error, 0);
  ASSERT_EQ(ring_.in_flight(), 1U) << "joined the one submitted before";
  ring_.end_with(0);
  EXPECT_EQ(first_.error, 0);
}

}  // namespace
}  // namespace rdmablk::target
