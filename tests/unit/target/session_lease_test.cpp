// Who may write to an export: several sessions that ask for it, without any transport.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "sample_catalog.h"
#include "target/access_rules.h"
#include "target/lease.h"
#include "target/session_protocol.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::Attach;
using protocol::AttachReply;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;

/// One end of the conversation; joined already.
class Client {
 public:
  Client(std::uint32_t id, const Catalog& catalog, const Limits& limits)
      : protocol_(id, {}, catalog, limits, "10.0.0." + std::to_string(id) + ":4711") {
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    request(MessageType::hello, hello);
    protocol_.join();
  }

  SessionProtocol* operator->() { return &protocol_; }

  template <typename Payload>
  Step request(MessageType type, const Payload& payload) {
    protocol::WireWriter writer(buffer_);
    payload.encode(writer);
    return protocol_.handle(
        {{type, false, Status::ok, ++tag_}, std::span(buffer_).first(writer.size())});
  }

  static Attach wanted(Access access = Access::read_write) {
    Attach attach;
    attach.name = "disk";
    attach.access = access;
    attach.queues = 1;
    attach.depth = 1;
    attach.max_io = 4096;
    return attach;
  }

  Step attach(const Attach& attach = wanted()) { return request(MessageType::attach, attach); }

  Step take_over() {
    auto attach = wanted();
    attach.flags = Attach::kTakeOver;
    return request(MessageType::attach, attach);
  }

 private:
  SessionProtocol protocol_;
  std::uint64_t tag_ = 0;
  std::array<std::byte, protocol::kMaxMessage> buffer_{};
};

const AttachReply& granted(const Step& step) {
  static const AttachReply kNone;
  EXPECT_NE(step.attached, nullptr);
  const auto* reply = step.send ? std::get_if<AttachReply>(&step.send->payload) : nullptr;
  return reply != nullptr ? *reply : kNone;
}

std::string refusal(const Step& step, Status status) {
  EXPECT_TRUE(step.send);
  if (!step.send) return "(no answer)";
  EXPECT_EQ(step.send->header.status, status);
  const auto* reason = std::get_if<protocol::Reason>(&step.send->payload);
  return reason != nullptr ? reason->text : "(no reason)";
}

class SessionLeaseTest : public ::testing::Test {
 protected:
  SessionLeaseTest() {
    Offer offer = sample_offer("disk");
    offer.identity = &identity_;
    offer.lease = &lease_;
    catalog_.add(offer);
  }

  /// Comes back for what was granted before.
  static Attach again(const AttachReply& before) {
    auto attach = Client::wanted();
    attach.lease = before.lease;
    attach.generation = before.generation;
    return attach;
  }

  VolatileIdentity identity_;
  Lease lease_{"disk", identity_};
  Catalog catalog_;
  Limits limits_;
  Client first_{1, catalog_, limits_};
  Client second_{2, catalog_, limits_};
};

TEST_F(SessionLeaseTest, GivesTheFirstWriterANumber) {
  const auto before = identity_.last_lease();
  EXPECT_EQ(granted(first_.attach()).lease, before + 1);
  EXPECT_EQ(lease_.holder().peer.address, "10.0.0.1:4711");
}

TEST_F(SessionLeaseTest, ReadersNeedNone) {
  first_.attach();
  EXPECT_EQ(granted(second_.attach(Client::wanted(Access::read_only))).lease, 0U);
}

TEST_F(SessionLeaseTest, SharedExportsHaveNone) {
  Offer offer = sample_offer("disk");
  offer.identity = &identity_;
  catalog_.add(offer);
  Client one(3, catalog_, limits_);
  Client other(4, catalog_, limits_);
  EXPECT_EQ(granted(one.attach()).lease, 0U);
  EXPECT_EQ(granted(other.attach()).lease, 0U);
}

TEST_F(SessionLeaseTest, WhatWaitsIsToldThatItsExportGoesAway) {
  const auto holder = granted(first_.attach()).attachment;
  const auto waits = second_.attach().waits;
  ASSERT_TRUE(waits);
  catalog_.withdraw("disk");
  EXPECT_TRUE(second_->end_export("other", "other is gone").answers.empty());
  const auto ending = second_->end_export("disk", "disk is gone");
  EXPECT_TRUE(ending.attachments.empty());
  ASSERT_EQ(ending.answers.size(), 1U);
  EXPECT_EQ(ending.answers[0].ticket, waits->ticket);
  EXPECT_EQ(refusal(ending.answers[0].step, Status::no_export), "disk is gone");
  EXPECT_FALSE(second_->retry_attach(waits->ticket).send) << "once";
  EXPECT_THAT(first_->end_export("disk", "disk is gone").attachments,
              ::testing::ElementsAre(holder));
  EXPECT_EQ(first_->absence(holder).text, "disk is gone");
  EXPECT_THAT(refusal(second_.attach(), Status::no_export), HasSubstr("is being removed"));
  catalog_.remove("disk");
  EXPECT_THAT(refusal(second_.attach(), Status::no_export), HasSubstr("there is no export 'disk'"));
}

TEST_F(SessionLeaseTest, RulesThatChangeEndWhatTheyDoNotAllow) {
  AccessRules rules;
  Offer offer = sample_offer("open");
  offer.rules = &rules;
  catalog_.add(offer);
  auto wanted = Client::wanted();
  wanted.name = "open";
  const auto writer = granted(first_.attach(wanted)).attachment;
  wanted.access = Access::read_only;
  granted(first_.attach(wanted));
  EXPECT_TRUE(first_->end_disallowed("open", "not yours").attachments.empty());
  rules.add("*:ro", "open");
  EXPECT_THAT(first_->end_disallowed("open", "not yours").attachments,
              ::testing::ElementsAre(writer));
}

TEST_F(SessionLeaseTest, TheSecondWriterWaitsAndIsTurnedAway) {
  first_.attach();
  const Step step = second_.attach();
  EXPECT_FALSE(step.send);
  EXPECT_FALSE(step.fences);
  ASSERT_TRUE(step.waits);
  EXPECT_EQ(step.waits->lease, &lease_);
  EXPECT_FALSE(second_->retry_attach(step.waits->ticket).send);
  const Step end = second_->give_up_attach(step.waits->ticket);
  const auto text = refusal(end, Status::busy);
  EXPECT_THAT(text, HasSubstr("'disk' is held for writing by 10.0.0.1:4711 since"));
  EXPECT_THAT(text, HasSubstr("--take-over"));
  EXPECT_FALSE(second_->give_up_attach(step.waits->ticket).send) << "once";
}

TEST_F(SessionLeaseTest, TheSecondWriterGetsItWhenTheFirstLeaves) {
  const auto attachment = granted(first_.attach()).attachment;
  const auto ticket = second_.attach().waits->ticket;
  first_.request(MessageType::detach, protocol::Detach{attachment});
  const Step step = second_->retry_attach(ticket);
  EXPECT_NE(granted(step).lease, 0U);
  EXPECT_EQ(step.send->header.tag, 2U) << "the answer to its request";
  EXPECT_FALSE(second_->retry_attach(ticket).send);
}

TEST_F(SessionLeaseTest, ItIsNotFreeBeforeTheQueuesAreGone) {
  const Step step = first_.attach();
  auto queue = step.attached->lease();
  first_.request(MessageType::detach, protocol::Detach{granted(step).attachment});
  const auto ticket = second_.attach().waits->ticket;
  EXPECT_FALSE(second_->retry_attach(ticket).send);
  EXPECT_THAT(refusal(second_->give_up_attach(ticket), Status::busy), HasSubstr("is gone"));
  const auto later = second_.attach().waits->ticket;
  queue.reset();
  EXPECT_NE(granted(second_->retry_attach(later)).lease, 0U);
}

TEST_F(SessionLeaseTest, TakingOverFencesTheHolder) {
  const auto old = granted(first_.attach());
  const Step step = second_.take_over();
  EXPECT_FALSE(step.send);
  EXPECT_EQ(step.fences, old.attachment);
  ASSERT_TRUE(step.waits);
  EXPECT_TRUE(step.waits->takes_over);
  EXPECT_TRUE(first_->end_attachment(*step.fences, "bob (10.0.0.3:1)"));
  EXPECT_THAT(first_->absence(*step.fences).text,
              AllOf(HasSubstr("--take-over"), HasSubstr("by bob (10.0.0.3:1)")));
  EXPECT_EQ(granted(second_->retry_attach(step.waits->ticket)).lease, old.lease + 1);
  // Whoever had it before is told that it was given away, however the generation looks.
  const Step back = first_.attach(again(old));
  EXPECT_THAT(refusal(back, Status::fenced),
              AllOf(HasSubstr("it is held for writing by 10.0.0.2:4711"),
                    HasSubstr("mount it anew to write again, with --take-over")));
}

TEST_F(SessionLeaseTest, TakingOverWhatNobodyHoldsIsAttaching) {
  const Step step = second_.take_over();
  EXPECT_FALSE(step.fences);
  EXPECT_NE(granted(step).lease, 0U);
}

TEST_F(SessionLeaseTest, TheNextTakerFencesTheOneBefore) {
  const auto old = granted(first_.attach()).attachment;
  Client third(3, catalog_, limits_);
  const auto one = second_.take_over().waits->ticket;
  const auto other = third.take_over().waits->ticket;
  first_->end_attachment(old);
  const auto taken = granted(second_->retry_attach(one)).attachment;
  const Step step = third->retry_attach(other);
  EXPECT_FALSE(step.send);
  EXPECT_EQ(step.fences, taken);
}

TEST_F(SessionLeaseTest, ComesBackWithTheSameNumber) {
  const auto before = granted(first_.attach());
  first_->end_attachments();
  EXPECT_EQ(granted(second_.attach(again(before))).lease, before.lease);
}

TEST_F(SessionLeaseTest, ComesBackOnlyWhenItsOldQueuesAreGone) {
  const Step step = first_.attach();
  const auto before = granted(step);
  auto queue = step.attached->lease();
  first_->end_attachments();
  const Step back = second_.attach(again(before));
  ASSERT_TRUE(back.waits);
  queue.reset();
  EXPECT_EQ(granted(second_->retry_attach(back.waits->ticket)).lease, before.lease);
}

TEST_F(SessionLeaseTest, NobodyElseComesBackWithTheNumberOfTheHolder) {
  const auto held = granted(first_.attach());
  refusal(second_.attach(again(held)), Status::fenced);
  EXPECT_EQ(lease_.holder().attachment, held.attachment);
}

TEST_F(SessionLeaseTest, ComesBackToNothingWhenItWasGivenAwayMeanwhile) {
  const auto before = granted(first_.attach());
  first_->end_attachments();
  granted(second_.attach());
  second_->end_attachments();
  EXPECT_THAT(refusal(first_.attach(again(before)), Status::fenced), HasSubstr("since"));
}

TEST_F(SessionLeaseTest, TheGenerationIsLookedAtBeforeTheLease) {
  auto back = again(granted(first_.attach()));
  first_->end_attachments();
  back.generation[0] ^= std::byte{1};
  refusal(first_.attach(back), Status::stale);
  ++back.lease;  // new content comes with new leases: that is not the reason to tell
  refusal(first_.attach(back), Status::stale);
  back.generation = {};
  refusal(first_.attach(back), Status::fenced);
}

TEST_F(SessionLeaseTest, AGenerationThatIsLostMeanwhileIsNoticed) {
  const Step step = first_.attach();
  const auto back = again(granted(step));
  auto queue = step.attached->lease();
  first_->end_attachments();
  const auto ticket = first_.attach(back).waits->ticket;
  identity_.mark_lost();
  queue.reset();
  refusal(first_->retry_attach(ticket), Status::stale);
}

TEST_F(SessionLeaseTest, NobodyBothComesBackAndTakesOver) {
  auto both = again(granted(first_.attach()));
  both.flags = Attach::kTakeOver;
  EXPECT_TRUE(second_.attach(both).over);
}

TEST_F(SessionLeaseTest, AFewRequestsWait) {
  first_.attach();
  for (unsigned i = 0; i < protocol::kAdminCredits; ++i) EXPECT_TRUE(second_.attach().waits);
  refusal(second_.attach(), Status::limit);
}

TEST_F(SessionLeaseTest, WhoWaitsWhenTheTargetEndsIsTurnedAway) {
  first_.attach();
  const auto ticket = second_.attach().waits->ticket;
  second_->say_goodbye();
  EXPECT_TRUE(second_->retry_attach(ticket).send);
  EXPECT_FALSE(second_->retry_attach(ticket).send);
}

TEST_F(SessionLeaseTest, AnEndedSessionAnswersNoneThatWaits) {
  first_.attach();
  const auto ticket = second_.attach().waits->ticket;
  second_->abandon(Status::internal, "enough");
  first_->end_attachments();
  EXPECT_FALSE(second_->retry_attach(ticket).send);
  EXPECT_FALSE(lease_.is_held());
}

}  // namespace
}  // namespace rdmablk::target
