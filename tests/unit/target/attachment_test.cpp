#include "target/attachment.h"

#include <gtest/gtest.h>

#include "sample_catalog.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::Status;

protocol::Attach request_of(Access access, std::uint16_t queues, std::uint32_t depth = 32,
                            std::uint32_t max_io = 1 << 20) {
  protocol::Attach request;
  request.name = "disk";
  request.access = access;
  request.queues = queues;
  request.depth = depth;
  request.max_io = max_io;
  return request;
}

class AttachmentTest : public ::testing::Test {
 protected:
  protocol::QueueRequest valid_request(std::uint16_t queue) const {
    const auto& reply = attachment_.reply();
    return {queue, reply.epoch, reply.attachment, reply.nonce, reply.token};
  }

  /// ok when it is admitted.
  Status admit(const protocol::QueueRequest& request) {
    const auto refusal = attachment_.admit(request);
    return refusal ? refusal->status : Status::ok;
  }

  Offer offer_ = sample_offer("disk");
  Limits limits_;
  Attachment attachment_{42, offer_, request_of(Access::read_write, 2), limits_};
};

TEST_F(AttachmentTest, TellsWhatWasGranted) {
  const auto& reply = attachment_.reply();
  EXPECT_EQ(reply.attachment, 42U);
  EXPECT_EQ(reply.queues, 2);
  EXPECT_EQ(reply.depth, 32U);
  EXPECT_EQ(reply.table.rkey, 22U);
  EXPECT_EQ(reply.epoch, 1U);
  EXPECT_EQ(reply.generation, offer_.identity->generation());
}

TEST_F(AttachmentTest, ReadOnlyGetsTheReadOnlyTable) {
  const Attachment attachment(1, offer_, request_of(Access::read_only, 1), limits_);
  EXPECT_EQ(attachment.reply().table.rkey, 11U);
  EXPECT_EQ(&attachment.grant(), &offer_.read_only);
}

TEST_F(AttachmentTest, CutsToTheLimits) {
  const Attachment most(1, offer_, request_of(Access::read_only, 65535, UINT32_MAX, UINT32_MAX),
                        limits_);
  EXPECT_EQ(most.reply().queues, limits_.queues);
  EXPECT_EQ(most.reply().depth, limits_.depth);
  EXPECT_EQ(most.reply().max_io, limits_.max_io);
  const Attachment least(1, offer_, request_of(Access::read_only, 0, 0, 0), limits_);
  EXPECT_EQ(least.reply().queues, 1);
  EXPECT_EQ(least.reply().depth, 1U);
  EXPECT_EQ(least.reply().max_io, 512U);
}

TEST_F(AttachmentTest, TokensDiffer) {
  const Attachment other(43, offer_, request_of(Access::read_write, 2), limits_);
  EXPECT_NE(attachment_.reply().token, other.reply().token);
  EXPECT_NE(attachment_.reply().nonce, other.reply().nonce);
}

TEST_F(AttachmentTest, AdmitsEachConnectionOnce) {
  EXPECT_EQ(admit(valid_request(0)), Status::ok);
  EXPECT_EQ(admit(valid_request(1)), Status::ok);
  EXPECT_EQ(admit(valid_request(0)), Status::stale);
}

TEST_F(AttachmentTest, AdmitsLaterEpochsOnly) {
  EXPECT_EQ(admit(valid_request(0)), Status::ok);
  auto request = valid_request(0);
  request.epoch += 5;  // those between came to nothing
  EXPECT_EQ(admit(request), Status::ok);
  for (const std::uint32_t replayed : {5U, 4U, 0U}) {
    request.epoch = valid_request(0).epoch + replayed;
    EXPECT_EQ(admit(request), Status::stale) << replayed;
  }
  EXPECT_EQ(admit(valid_request(1)), Status::ok) << "each queue has epochs of its own";
}

TEST_F(AttachmentTest, RefusesQueuesThatWereNotGranted) {
  EXPECT_EQ(admit(valid_request(2)), Status::limit);
  EXPECT_EQ(admit(valid_request(64)), Status::limit);
  EXPECT_EQ(admit(valid_request(0xfffe)), Status::limit);
}

TEST_F(AttachmentTest, RefusesAnEarlierEpoch) {
  auto request = valid_request(0);
  request.epoch = 0;
  EXPECT_EQ(admit(request), Status::stale);
}

TEST_F(AttachmentTest, EveryByteOfTheProofCounts) {
  for (std::size_t i = 0; i < protocol::Token{}.size(); ++i) {
    auto request = valid_request(0);
    request.proof[i] ^= std::byte{0x80};
    EXPECT_EQ(admit(request), Status::no_attachment) << i;
  }
  for (std::size_t i = 0; i < protocol::Nonce{}.size(); ++i) {
    auto request = valid_request(0);
    request.nonce[i] ^= std::byte{1};
    EXPECT_EQ(admit(request), Status::no_attachment) << i;
  }
}

TEST_F(AttachmentTest, WithoutTheProofNothingIsTold) {
  auto request = valid_request(99);
  request.proof = {};
  request.epoch = 99;
  EXPECT_EQ(admit(request), Status::no_attachment);
}

}  // namespace
}  // namespace rdmablk::target
