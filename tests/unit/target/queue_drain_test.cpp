#include "target/queue_drain.h"

#include <gtest/gtest.h>

#include <vector>

#include "sample_catalog.h"
#include "target/lease.h"

namespace rdmablk::target {
namespace {

/// A queue that is through when the test says so.
class ScriptedQueue final : public IoQueue {
 public:
  ScriptedQueue(const Attachment& attachment, IoQueueOwner& owner, int& alive)
      : IoQueue(attachment, 0, {}, owner), alive_(alive) {
    ++alive_;
  }
  ~ScriptedQueue() override { --alive_; }

  std::string peer() const override { return "nobody"; }
  Footprint footprint() const noexcept override { return {1, 2, 0, 100}; }
  void accept() override {}
  void be_through() { closed(); }

 private:
  void begin_close() override {}

  int& alive_;
};

class QueueDrainTest : public ::testing::Test, private IoQueueOwner {
 protected:
  Attachment attachment(std::uint64_t id, std::shared_ptr<LeaseHold> lease = nullptr) const {
    protocol::Attach request;
    request.access = protocol::Access::read_write;
    return Attachment(id, offer_, request, limits_, nullptr, std::move(lease));
  }

  /// Adds a queue of an attachment.
  ScriptedQueue& add(const Attachment& attachment) {
    IoQueueOwner& owner = *this;
    auto queue = std::make_unique<ScriptedQueue>(attachment, owner, alive_);
    ScriptedQueue& added = *queue;
    drain_.add(std::move(queue));
    return added;
  }

  void wait_for(std::uint64_t first, std::uint64_t last) {
    drain_.when_gone({first, last}, [this, first] { gone_.push_back(first); });
  }

  void on_queue_in_error(const std::string& /*line*/) override {}
  void on_queue_over(IoQueue& /*queue*/, const std::string& /*reason*/) override {}
  void on_queue_violation(IoQueue& /*queue*/, const std::string& /*reason*/) override {}

  Offer offer_ = sample_offer("disk");
  Limits limits_;
  int alive_ = 0;
  QueueDrain drain_;
  std::vector<std::uint64_t> gone_;
};

TEST_F(QueueDrainTest, KeepsAQueueUntilItIsThrough) {
  ScriptedQueue& queue = add(attachment(1));
  EXPECT_EQ(drain_.size(), 1U);
  EXPECT_EQ(drain_.footprint().memory_regions, 2U);
  EXPECT_EQ(alive_, 1);
  queue.be_through();
  EXPECT_EQ(alive_, 0);
  EXPECT_TRUE(drain_.empty());
}

TEST_F(QueueDrainTest, TellsWhenNoneOfThoseAttachmentsIsLeft) {
  ScriptedQueue& one = add(attachment(10));
  ScriptedQueue& two = add(attachment(11));
  ScriptedQueue& other = add(attachment(30));
  wait_for(10, 19);
  wait_for(20, 29);
  EXPECT_EQ(gone_, (std::vector<std::uint64_t>{20})) << "there is none";
  two.be_through();
  other.be_through();
  EXPECT_EQ(gone_.size(), 1U);
  one.be_through();
  EXPECT_EQ(gone_, (std::vector<std::uint64_t>{20, 10}));
}

TEST_F(QueueDrainTest, ThoseWhoComeMeanwhileCount) {
  ScriptedQueue& first = add(attachment(1));
  wait_for(1, 1);
  ScriptedQueue& second = add(attachment(1));
  first.be_through();
  EXPECT_TRUE(gone_.empty());
  second.be_through();
  EXPECT_EQ(gone_.size(), 1U);
}

TEST_F(QueueDrainTest, ALeaseIsHeldUntilTheLastQueueIsThrough) {
  Lease lease("disk", *offer_.identity);
  std::optional<Attachment> writer(attachment(1, lease.grant({1, {}})));
  ScriptedQueue& queue = add(*writer);
  writer.reset();
  EXPECT_TRUE(lease.is_leaving());
  queue.be_through();
  EXPECT_FALSE(lease.is_held());
}

}  // namespace
}  // namespace rdmablk::target
