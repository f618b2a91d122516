#include "target/session_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "sample_catalog.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::Header;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;

constexpr std::uint32_t kSession = 5;
constexpr protocol::InstanceId kInstance{std::byte{3}};

class SessionProtocolTest : public ::testing::Test {
 protected:
  /// Feeds a message, which travels as bytes.
  template <typename Payload>
  Step feed(const Header& header, const Payload& payload) {
    protocol::WireWriter writer(buffer_);
    payload.encode(writer);
    return protocol_.handle({header, std::span(buffer_).first(writer.size())});
  }

  template <typename Payload>
  Step request(MessageType type, const Payload& payload) {
    return feed({type, false, Status::ok, 77}, payload);
  }

  /// Says HELLO, and lets in whoever may join.
  Step hello(std::uint16_t first = protocol::kVersion, std::uint16_t last = protocol::kVersion) {
    protocol::Hello hello;
    hello.instance = kInstance;
    hello.version_min = first;
    hello.version_max = last;
    const Step step = request(MessageType::hello, hello);
    return step.joins ? protocol_.join() : step;
  }

  void hello_with(protocol::Features features) {
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    hello.features = features;
    request(MessageType::hello, hello);
    protocol_.join();
  }

  Step report(std::vector<protocol::AttachmentUse> entries) {
    return request(MessageType::keepalive, protocol::UseReport{std::move(entries)});
  }

  static protocol::Attach attach_of(const std::string& name, Access access) {
    protocol::Attach attach;
    attach.name = name;
    attach.access = access;
    attach.queues = 2;
    attach.depth = 16;
    attach.max_io = 4096;
    return attach;
  }

  Step attach(const std::string& name = "disk", Access access = Access::read_write) {
    return request(MessageType::attach, attach_of(name, access));
  }

  static std::string reason_of(const Step& step) {
    const auto* reason = step.send ? std::get_if<protocol::Reason>(&step.send->payload) : nullptr;
    return reason != nullptr ? reason->text : "(no reason)";
  }

  static void expect_refused(const Step& step, Status status) {
    ASSERT_TRUE(step.send);
    EXPECT_TRUE(step.send->header.is_reply);
    EXPECT_EQ(step.send->header.status, status) << reason_of(step);
    EXPECT_EQ(step.send->header.tag, 77U);
    EXPECT_TRUE(std::holds_alternative<protocol::Reason>(step.send->payload));
    EXPECT_FALSE(step.over);
  }

  /// The session ended with an ERROR, and answers nothing more.
  void expect_malformed(const Step& step) {
    ASSERT_TRUE(step.send);
    EXPECT_EQ(step.send->header.type, MessageType::error);
    EXPECT_FALSE(step.send->header.is_reply);
    EXPECT_EQ(step.send->header.status, Status::malformed);
    EXPECT_TRUE(step.over);
    const Step next = request(MessageType::keepalive, protocol::Empty{});
    EXPECT_FALSE(next.send);
    EXPECT_FALSE(next.over);
  }

  struct Zeroes {
    std::size_t size;
    void encode(protocol::WireWriter& writer) const { writer.pad(size); }
  };

  protocol::QueueRequest queue_of(const Attachment& attachment, std::uint16_t queue = 0) {
    const auto& reply = attachment.reply();
    return {queue, reply.epoch, reply.attachment, reply.nonce, reply.token};
  }

  Status admit(const protocol::QueueRequest& queue) {
    const auto admission = protocol_.admit(queue, "192.0.2.1:4711");
    const auto* refusal = std::get_if<protocol::QueueRefusal>(&admission);
    return refusal != nullptr ? refusal->status : Status::ok;
  }

  Catalog catalog_ = sample_catalog();
  Limits limits_;
  protocol::InstanceId target_{std::byte{9}};
  SessionProtocol protocol_{kSession, target_, catalog_, limits_};
  std::array<std::byte, protocol::kMaxMessage> buffer_{};
};

TEST_F(SessionProtocolTest, GreetsBack) {
  EXPECT_FALSE(protocol_.is_known());
  const Step step = hello();
  EXPECT_TRUE(step.greeted);
  EXPECT_TRUE(protocol_.is_known());
  ASSERT_TRUE(step.send);
  EXPECT_TRUE(step.send->header.is_reply);
  EXPECT_EQ(step.send->header.tag, 77U);
  const auto& reply = std::get<protocol::HelloReply>(step.send->payload);
  EXPECT_EQ(reply.session, kSession);
  EXPECT_EQ(reply.target, target_);
  EXPECT_EQ(reply.version, protocol::kVersion);
  EXPECT_EQ(reply.credits, protocol::kAdminCredits);
  EXPECT_EQ(reply.max_message, protocol::kMaxMessage);
  EXPECT_EQ(reply.keepalive_ms, 5000U);
  EXPECT_EQ(protocol_.peer().instance, kInstance);
}

TEST_F(SessionProtocolTest, AgreesOnTheFeaturesThatBothKnow) {
  limits_.features = protocol::Features::from_bits(0b0110);
  protocol::Hello hello;
  hello.version_min = hello.version_max = protocol::kVersion;
  hello.features = protocol::Features::from_bits(0b1100);
  request(MessageType::hello, hello);
  const Step joined = protocol_.join();
  ASSERT_TRUE(joined.send);
  EXPECT_EQ(std::get<protocol::HelloReply>(joined.send->payload).features.bits(), 0b0100U);
  EXPECT_EQ(protocol_.peer().features.bits(), 0b0100U);
}

TEST_F(SessionProtocolTest, AnswersTheFirstVersionAsTheFirstVersionDid) {
  const Step step = hello();
  ASSERT_TRUE(step.send);
  EXPECT_EQ(std::get<protocol::HelloReply>(step.send->payload).features, protocol::Features{});
}

TEST_F(SessionProtocolTest, GreetsOnlyWhenItMayJoin) {
  protocol::Hello hello;
  hello.version_min = hello.version_max = protocol::kVersion;
  const Step step = request(MessageType::hello, hello);
  EXPECT_TRUE(step.joins);
  EXPECT_FALSE(step.send);
  EXPECT_FALSE(step.greeted);
  EXPECT_TRUE(protocol_.is_known());
  const Step joined = protocol_.join();
  EXPECT_TRUE(joined.greeted);
  ASSERT_TRUE(joined.send);
  EXPECT_EQ(joined.send->header.tag, 77U);
  EXPECT_FALSE(protocol_.join().send) << "once";
}

TEST_F(SessionProtocolTest, TakesNothingBeforeTheGreeting) {
  protocol::Hello hello;
  hello.version_min = hello.version_max = protocol::kVersion;
  request(MessageType::hello, hello);
  expect_malformed(request(MessageType::list, protocol::List{}));
  EXPECT_FALSE(protocol_.join().send) << "too late";
}

TEST_F(SessionProtocolTest, SaysWhyItCannotJoin) {
  protocol::Hello hello;
  hello.version_min = hello.version_max = protocol::kVersion;
  request(MessageType::hello, hello);
  const Step step = protocol_.refuse_join(Status::limit, "too many of you");
  ASSERT_TRUE(step.send);
  EXPECT_EQ(step.send->header.type, MessageType::hello);
  EXPECT_EQ(step.send->header.status, Status::limit);
  EXPECT_EQ(step.over, "too many of you");
  EXPECT_FALSE(request(MessageType::keepalive, protocol::Empty{}).send);
}

TEST_F(SessionProtocolTest, AgreesOnAVersionWithinARange) {
  EXPECT_TRUE(hello(0, 99).greeted);
}

TEST_F(SessionProtocolTest, RefusesOtherVersions) {
  const Step step = hello(protocol::kVersion + 1, protocol::kVersion + 4);
  ASSERT_TRUE(step.send);
  EXPECT_EQ(step.send->header.status, Status::version);
  EXPECT_TRUE(step.over);
  EXPECT_FALSE(step.greeted);
}

TEST_F(SessionProtocolTest, WantsHelloFirst) {
  expect_malformed(request(MessageType::list, protocol::List{}));
}

TEST_F(SessionProtocolTest, WantsHelloBeforeEvenUnknownTypes) {
  expect_malformed(request(MessageType{500}, protocol::Empty{}));
}

TEST_F(SessionProtocolTest, WantsHelloOnce) {
  hello();
  expect_malformed(hello());
}

TEST_F(SessionProtocolTest, Lists) {
  hello();
  const Step step = request(MessageType::list, protocol::List{});
  const auto& reply = std::get<protocol::ListReply>(step.send->payload);
  ASSERT_EQ(reply.exports.size(), 2U);
  EXPECT_EQ(reply.exports[0].name, "disk");
}

TEST_F(SessionProtocolTest, AnswersKeepalive) {
  hello();
  const Step step = request(MessageType::keepalive, protocol::Empty{});
  ASSERT_TRUE(step.send);
  EXPECT_TRUE(step.send->header.is_reply);
  EXPECT_EQ(step.send->header.type, MessageType::keepalive);
}

TEST_F(SessionProtocolTest, TakesWhatIsReportedOfItsAttachments) {
  hello_with({protocol::Feature::counters});
  const std::uint64_t attachment = attach().attached->id();
  const protocol::Use first{.reads = 3, .bytes_read = 12288};
  const Step step = report({{attachment, first}});
  ASSERT_TRUE(step.send);
  EXPECT_EQ(step.send->header.type, MessageType::keepalive);
  ASSERT_EQ(step.uses.size(), 1U);
  EXPECT_EQ(step.uses[0].export_name, "disk");
  EXPECT_EQ(step.uses[0].use, first);
  const auto second = report({{attachment, {.reads = 5, .bytes_read = 20480}}});
  ASSERT_EQ(second.uses.size(), 1U);
  EXPECT_EQ(second.uses[0].use, (protocol::Use{.reads = 2, .bytes_read = 8192}));
}

TEST_F(SessionProtocolTest, LeavesOutWhatIsReportedOfOthersAttachments) {
  hello_with({protocol::Feature::counters});
  const std::uint64_t attachment = attach().attached->id();
  const Step step = report({{attachment + 1, {.reads = 3}}, {0, {.reads = 3}}});
  EXPECT_TRUE(step.send);
  EXPECT_TRUE(step.uses.empty());
  EXPECT_FALSE(step.over);
}

TEST_F(SessionProtocolTest, TakesNoReportThatWasNotAgreedOn) {
  hello();
  const std::uint64_t attachment = attach().attached->id();
  const Step step = report({{attachment, {.reads = 3}}});
  EXPECT_TRUE(step.send);
  EXPECT_TRUE(step.uses.empty());
}

TEST_F(SessionProtocolTest, EndsAtAMalformedReport) {
  hello_with({protocol::Feature::counters});
  expect_malformed(request(MessageType::keepalive, Zeroes{9}));
}

TEST_F(SessionProtocolTest, AttachesWithIdsThatNameTheSession) {
  hello();
  const Step first = attach();
  const Step second = attach();
  ASSERT_NE(first.attached, nullptr);
  ASSERT_NE(second.attached, nullptr);
  EXPECT_NE(first.attached->id(), second.attached->id());
  EXPECT_EQ(session_of(first.attached->id()), kSession);
  const auto& reply = std::get<protocol::AttachReply>(first.send->payload);
  EXPECT_EQ(reply.token, first.attached->reply().token);
}

TEST_F(SessionProtocolTest, AsksForTheDeviceOfAQueueWhenATableIsWanted) {
  hello_with({protocol::Feature::paths});
  const std::uint64_t attachment = attach().attached->id();
  const Step step = request(MessageType::table, protocol::Table{attachment, 1, 3});
  EXPECT_FALSE(step.send);
  ASSERT_TRUE(step.asks);
  EXPECT_EQ(step.asks->attachment, attachment);
  EXPECT_EQ(step.asks->number, 1U);
  EXPECT_EQ(step.asks->queue, 3U);
  expect_refused(protocol_.answer_table(*step.asks, nullptr), Status::no_attachment);
  ibv_context device{};
  expect_refused(protocol_.answer_table(*step.asks, &device), Status::stale);
  expect_refused(protocol_.answer_table({77, attachment + 1, 1, 3}, &device),
                 Status::no_attachment);
}

TEST_F(SessionProtocolTest, TellsOfNoTableThatWasNotAgreedOn) {
  hello();
  const std::uint64_t attachment = attach().attached->id();
  const Step step = request(MessageType::table, protocol::Table{attachment, 1, 0});
  expect_refused(step, Status::not_supported);
  EXPECT_FALSE(step.asks);
}

TEST_F(SessionProtocolTest, EndsWithAMalformedTable) {
  hello_with({protocol::Feature::paths});
  expect_malformed(request(MessageType::table, Zeroes{23}));
}

TEST_F(SessionProtocolTest, AttachesWhenTheExportIsRegistered) {
  hello();
  Offer offer = sample_offer("disk");
  offer.is_registered = false;
  catalog_.update(offer);
  const Step waits = attach();
  EXPECT_FALSE(waits.send);
  ASSERT_TRUE(waits.registers);
  EXPECT_EQ(waits.registers->export_name, "disk");
  EXPECT_FALSE(protocol_.go_on_attaching(waits.registers->ticket).send) << "it is not yet";
  offer.is_registered = true;
  catalog_.update(offer);
  const Step step = protocol_.go_on_attaching(waits.registers->ticket);
  ASSERT_NE(step.attached, nullptr);
  EXPECT_EQ(step.send->header.tag, 77U);
  EXPECT_FALSE(protocol_.go_on_attaching(waits.registers->ticket).send) << "once";
}

TEST_F(SessionProtocolTest, RefusesToAttachWhatCannotBeRegistered) {
  hello();
  Offer offer = sample_offer("disk");
  offer.is_registered = false;
  catalog_.update(offer);
  const Step waits = attach();
  ASSERT_TRUE(waits.registers);
  const Step step =
      protocol_.refuse_attach(waits.registers->ticket, Status::internal, "too little memlock");
  expect_refused(step, Status::internal);
  EXPECT_EQ(reason_of(step), "too little memlock");
  EXPECT_FALSE(protocol_.refuse_attach(waits.registers->ticket, Status::internal, "again").send);
}

TEST_F(SessionProtocolTest, ListsTheExportsWhenThereIsNoneOfThatName) {
  hello();
  const Step step = attach("floppy");
  expect_refused(step, Status::no_export);
  EXPECT_EQ(reason_of(step), "there is no export 'floppy'; those there are: disk, rom");
}

TEST_F(SessionProtocolTest, KeepsReadOnlyExportsReadOnly) {
  hello();
  expect_refused(attach("rom", Access::read_write), Status::read_only);
  EXPECT_NE(attach("rom", Access::read_only).attached, nullptr);
}

TEST_F(SessionProtocolTest, RefusesAnotherGeneration) {
  hello();
  auto known = attach_of("disk", Access::read_write);
  known.generation = catalog_.find("disk")->identity->generation();
  EXPECT_NE(request(MessageType::attach, known).attached, nullptr);
  known.generation[3] ^= std::byte{1};
  expect_refused(request(MessageType::attach, known), Status::stale);
}

TEST_F(SessionProtocolTest, RefusesFlagsThatItDoesNotKnow) {
  hello();
  auto flags = attach_of("disk", Access::read_write);
  flags.flags = 4;
  expect_refused(request(MessageType::attach, flags), Status::not_supported);
}

TEST_F(SessionProtocolTest, LimitsAttachments) {
  limits_.attachments = 2;
  hello();
  const auto first = attach().attached->id();
  attach();
  expect_refused(attach(), Status::limit);
  request(MessageType::detach, protocol::Detach{first});
  EXPECT_NE(attach().attached, nullptr);
}

TEST_F(SessionProtocolTest, DetachesOnce) {
  hello();
  const auto id = attach().attached->id();
  const Step step = request(MessageType::detach, protocol::Detach{id});
  EXPECT_EQ(step.detached, id);
  EXPECT_EQ(step.send->header.status, Status::ok);
  expect_refused(request(MessageType::detach, protocol::Detach{id}), Status::no_attachment);
}

TEST_F(SessionProtocolTest, DoesNotAuthenticate) {
  hello();
  expect_refused(request(MessageType::authenticate, protocol::Empty{}), Status::not_supported);
}

TEST_F(SessionProtocolTest, SaysThatItDoesNotKnowAType) {
  hello();
  expect_refused(request(MessageType::flush, protocol::Empty{}), Status::not_supported);
  expect_refused(request(MessageType{999}, protocol::Empty{}), Status::not_supported);
}

TEST_F(SessionProtocolTest, EndsWithRepliesToNothing) {
  hello();
  expect_malformed(feed({MessageType::event, true, Status::ok, 1}, protocol::Empty{}));
}

TEST_F(SessionProtocolTest, EndsWithEventsFromTheInitiator) {
  hello();
  expect_malformed(request(MessageType::event, protocol::EventNotice{}));
}

TEST_F(SessionProtocolTest, EndsWhenTheInitiatorReportsAnError) {
  hello();
  const Step step = request(MessageType::error, protocol::Reason{"enough\n"});
  EXPECT_FALSE(step.send);
  ASSERT_TRUE(step.over);
  EXPECT_THAT(*step.over, HasSubstr("enough?"));
}

class MalformedPayloadTest : public SessionProtocolTest,
                             public ::testing::WithParamInterface<MessageType> {};

TEST_P(MalformedPayloadTest, EndsTheSession) {
  if (GetParam() != MessageType::hello) hello();
  expect_malformed(request(GetParam(), Zeroes{3}));
}

INSTANTIATE_TEST_SUITE_P(All, MalformedPayloadTest,
                         ::testing::Values(MessageType::hello, MessageType::list,
                                           MessageType::attach, MessageType::detach));

TEST_F(SessionProtocolTest, AdmitsQueuesOfItsAttachments) {
  hello();
  const Attachment& attachment = *attach().attached;
  const auto admission = protocol_.admit(queue_of(attachment), "192.0.2.1:4711");
  EXPECT_EQ(std::get<const Attachment*>(admission), &attachment);
  EXPECT_EQ(admit(queue_of(attachment)), Status::stale);
}

TEST_F(SessionProtocolTest, AdmitsNoQueueOfAnAttachmentThatWasEnded) {
  hello();
  const auto queue = queue_of(*attach().attached);
  EXPECT_TRUE(protocol_.end_attachment(queue.attachment));
  EXPECT_FALSE(protocol_.end_attachment(queue.attachment));
  EXPECT_EQ(admit(queue), Status::no_attachment);
  expect_refused(request(MessageType::detach, protocol::Detach{queue.attachment}),
                 Status::no_attachment);
}

TEST_F(SessionProtocolTest, AdmitsNoQueueOfADetachedAttachment) {
  hello();
  const Attachment& attachment = *attach().attached;
  const auto queue = queue_of(attachment);
  request(MessageType::detach, protocol::Detach{attachment.id()});
  EXPECT_EQ(admit(queue), Status::no_attachment);
}

TEST_F(SessionProtocolTest, AdmitsNoQueueOnceItIsOver) {
  hello();
  const auto queue = queue_of(*attach().attached);
  protocol_.abandon(Status::internal, "enough");
  EXPECT_EQ(admit(queue), Status::no_attachment);
}

TEST_F(SessionProtocolTest, SaysGoodbyeAndIsAcknowledged) {
  hello();
  const auto notice = protocol_.say_goodbye();
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->header.type, MessageType::event);
  EXPECT_FALSE(notice->header.is_reply);
  EXPECT_TRUE(feed({MessageType::event, true, Status::ok, notice->header.tag}, protocol::Empty{})
                  .acknowledged);
}

TEST_F(SessionProtocolTest, OnlyTheNoticesTagAcknowledges) {
  hello();
  const auto notice = protocol_.say_goodbye();
  expect_malformed(
      feed({MessageType::event, true, Status::ok, notice->header.tag + 1}, protocol::Empty{}));
}

TEST_F(SessionProtocolTest, StartsNothingNewAfterGoodbye) {
  hello();
  const auto queue = queue_of(*attach().attached);
  protocol_.say_goodbye();
  expect_refused(attach(), Status::shutting_down);
  EXPECT_EQ(admit(queue), Status::shutting_down);
  EXPECT_EQ(request(MessageType::detach, protocol::Detach{queue.attachment}).send->header.status,
            Status::ok);
}

TEST_F(SessionProtocolTest, SaysGoodbyeToNobody) {
  EXPECT_FALSE(protocol_.say_goodbye());
}

}  // namespace
}  // namespace rdmablk::target
