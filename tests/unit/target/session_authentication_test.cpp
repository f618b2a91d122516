// The conversation with an initiator that has to prove who it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "common/auth/queue_proof.h"
#include "sample_catalog.h"
#include "target/access_rules.h"
#include "target/session_protocol.h"

namespace rdmablk::target {
namespace {

using auth::Key;
using protocol::Access;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;
using ::testing::Not;

const Key kKeyOfAlice = Key::generate();
const Key kKeyOfBob = Key::generate();

constexpr const char* kAddress = "192.0.2.1:4711";

class SessionAuthenticationTest : public ::testing::Test {
 protected:
  SessionAuthenticationTest() {
    add("alices", {"alice"});
    add("both", {"alice:ro", "bob:rw@192.0.2.0/24"});
    add("bobs", {"bob"});
  }

  void add(const std::string& name, std::initializer_list<const char*> rules) {
    auto& made = rules_.emplace_back(std::make_unique<AccessRules>());
    for (const char* const rule : rules) made->add(rule, name);
    Offer offer = sample_offer(name);
    offer.rules = made.get();
    catalog_.add(std::move(offer));
  }

  template <typename Payload>
  std::vector<std::byte> encode(const Payload& payload) {
    protocol::WireWriter writer(buffer_);
    payload.encode(writer);
    return {buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(writer.size())};
  }

  template <typename Payload>
  Step request(MessageType type, const Payload& payload) {
    const auto bytes = encode(payload);
    return protocol_.handle({{type, false, Status::ok, 77}, bytes});
  }

  protocol::HelloReply hello() {
    protocol::Hello hello;
    hello.instance = {std::byte{3}};
    hello.version_min = hello.version_max = protocol::kVersion;
    said_ = encode(hello);
    const Step step = request(MessageType::hello, hello);
    EXPECT_FALSE(step.joins) << "before it has said who it is";
    EXPECT_FALSE(step.greeted);
    EXPECT_FALSE(protocol_.is_known());
    auto reply = std::get<protocol::HelloReply>(step.send.value().payload);
    answered_ = encode(reply);
    return reply;
  }

  auth::Handshake handshake(const std::string& client) const {
    return {said_, answered_, client, nonce_};
  }

  protocol::Authenticate proof_of(const std::string& client, const Key& key) const {
    return {client, nonce_, handshake(client).client_proof(key)};
  }

  Step authenticate(const std::string& client = "alice", const Key& key = kKeyOfAlice) {
    return request(MessageType::authenticate, proof_of(client, key));
  }

  /// The whole way in.
  void enter(const std::string& client = "alice", const Key& key = kKeyOfAlice) {
    hello();
    ASSERT_TRUE(authenticate(client, key).joins);
    ASSERT_TRUE(protocol_.join().greeted);
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

  Step attach(const std::string& name, Access access = Access::read_only) {
    return request(MessageType::attach, attach_of(name, access));
  }

  static std::string reason_of(const Step& step) {
    return std::get<protocol::Reason>(step.send.value().payload).text;
  }

  void expect_over(Status status, const Step& step) {
    ASSERT_TRUE(step.send);
    EXPECT_EQ(step.send->header.status, status);
    EXPECT_TRUE(step.over);
    EXPECT_FALSE(authenticate().send) << "one attempt";
    EXPECT_FALSE(protocol_.join().send);
    EXPECT_FALSE(protocol_.is_known());
  }

  Status admit(const protocol::QueueRequest& queue, const char* from = kAddress) {
    const auto admission = protocol_.admit(queue, from);
    const auto* refusal = std::get_if<protocol::QueueRefusal>(&admission);
    return refusal != nullptr ? refusal->status : Status::ok;
  }

  std::vector<std::unique_ptr<AccessRules>> rules_;
  Catalog catalog_;
  Limits limits_;
  ClientKeys keys_{{{"alice", kKeyOfAlice}, {"bob", kKeyOfBob}}, "file"};
  SessionProtocol protocol_{
      5, protocol::InstanceId{std::byte{9}}, catalog_, limits_, kAddress, nullptr, &keys_};
  std::array<std::byte, protocol::kMaxMessage> buffer_{};
  std::vector<std::byte> said_;
  std::vector<std::byte> answered_;
  protocol::Token nonce_{std::byte{8}};
};

TEST_F(SessionAuthenticationTest, AsksWhoItIs) {
  const auto reply = hello();
  EXPECT_EQ(reply.authentication, protocol::Authentication::pre_shared_key);
  EXPECT_NE(reply.nonce, protocol::Token{});
}

TEST_F(SessionAuthenticationTest, LetsInWhoProvesIt) {
  hello();
  const Step step = authenticate();
  EXPECT_TRUE(step.joins);
  EXPECT_FALSE(step.send) << "before the session that it resumes is gone";
  EXPECT_EQ(protocol_.peer().client, "alice");
  EXPECT_TRUE(protocol_.is_known());
  const Step joined = protocol_.join();
  EXPECT_TRUE(joined.greeted);
  ASSERT_TRUE(joined.send);
  EXPECT_EQ(joined.send->header.type, MessageType::authenticate);
  EXPECT_EQ(joined.send->header.tag, 77U);
  EXPECT_EQ(std::get<protocol::AuthenticateReply>(joined.send->payload).proof,
            handshake("alice").target_proof(kKeyOfAlice));
}

TEST_F(SessionAuthenticationTest, RefusesAWrongKeyAndAnUnknownNameAlike) {
  hello();
  const Step wrong = authenticate("alice", kKeyOfBob);
  SessionProtocol other(6, protocol::InstanceId{}, catalog_, limits_, kAddress, nullptr, &keys_);
  other.handle({{MessageType::hello, false, Status::ok, 77}, said_});
  const auto bytes = encode(proof_of("mallory", kKeyOfAlice));
  const Step unknown = other.handle({{MessageType::authenticate, false, Status::ok, 77}, bytes});
  ASSERT_TRUE(wrong.send && unknown.send);
  EXPECT_EQ(encode(*wrong.send), encode(*unknown.send));
  EXPECT_EQ(wrong.send->header.status, unknown.send->header.status);
  EXPECT_EQ(reason_of(wrong), "not authorized");
  EXPECT_THAT(*wrong.over, HasSubstr("another key"));
  EXPECT_THAT(*unknown.over, HasSubstr("which there is not"));
  expect_over(Status::unauthorized, wrong);
}

TEST_F(SessionAuthenticationTest, EveryBitOfTheProofCounts) {
  for (std::size_t bit = 0; bit < 256; ++bit) {
    SessionProtocol session(6, protocol::InstanceId{}, catalog_, limits_, kAddress, nullptr,
                            &keys_);
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    said_ = encode(hello);
    const Step greeting = session.handle({{MessageType::hello, false, Status::ok, 1}, said_});
    answered_ = encode(std::get<protocol::HelloReply>(greeting.send.value().payload));
    auto proof = proof_of("alice", kKeyOfAlice);
    proof.proof[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto bytes = encode(proof);
    EXPECT_TRUE(session.handle({{MessageType::authenticate, false, Status::ok, 2}, bytes}).over);
  }
}

TEST_F(SessionAuthenticationTest, RefusesWhatWasRecorded) {
  hello();
  const auto recorded = encode(proof_of("alice", kKeyOfAlice));
  SessionProtocol later(5, protocol::InstanceId{std::byte{9}}, catalog_, limits_, kAddress, nullptr,
                        &keys_);
  later.handle({{MessageType::hello, false, Status::ok, 77}, said_});
  const Step step = later.handle({{MessageType::authenticate, false, Status::ok, 77}, recorded});
  ASSERT_TRUE(step.send);
  EXPECT_EQ(step.send->header.status, Status::unauthorized);
}

TEST_F(SessionAuthenticationTest, AnswersNothingElseBefore) {
  for (const auto type : {MessageType::list, MessageType::attach, MessageType::detach,
                          MessageType::keepalive, MessageType{99}}) {
    SessionProtocol session(6, protocol::InstanceId{}, catalog_, limits_, kAddress, nullptr,
                            &keys_);
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    session.handle({{MessageType::hello, false, Status::ok, 1}, encode(hello)});
    const Step step = session.handle({{type, false, Status::ok, 2}, encode(protocol::List{})});
    ASSERT_TRUE(step.send);
    EXPECT_EQ(step.send->header.type, MessageType::error);
    EXPECT_EQ(step.send->header.status, Status::unauthorized);
    EXPECT_TRUE(step.over);
    EXPECT_THAT(reason_of(step), Not(HasSubstr("alices")));
  }
}

TEST_F(SessionAuthenticationTest, AuthenticatesAfterHelloAndOnce) {
  const Step early = authenticate();
  ASSERT_TRUE(early.send);
  EXPECT_EQ(early.send->header.status, Status::malformed);
  EXPECT_TRUE(early.over);
}

TEST_F(SessionAuthenticationTest, DoesNotAuthenticateTwice) {
  enter();
  const Step again = authenticate();
  ASSERT_TRUE(again.send);
  EXPECT_EQ(again.send->header.status, Status::malformed);
  EXPECT_TRUE(again.over);
}

TEST_F(SessionAuthenticationTest, RefusesAMessageThatIsNone) {
  hello();
  const Step step = request(MessageType::authenticate, protocol::List{});
  expect_over(Status::malformed, step);
}

TEST_F(SessionAuthenticationTest, GoesByTheKeysThatThereAreNow) {
  hello();
  keys_ = ClientKeys({{"alice", kKeyOfBob}}, "file");
  EXPECT_TRUE(authenticate("alice", kKeyOfBob).joins);
}

TEST_F(SessionAuthenticationTest, TellsAStrangerNoGoodbye) {
  hello();
  EXPECT_FALSE(protocol_.say_goodbye());
}

TEST_F(SessionAuthenticationTest, ListsWhatTheClientMayHave) {
  enter();
  const Step step = request(MessageType::list, protocol::List{});
  const auto& exports = std::get<protocol::ListReply>(step.send.value().payload).exports;
  ASSERT_EQ(exports.size(), 2U);
  EXPECT_EQ(exports[0].name, "alices");
  EXPECT_FALSE(exports[0].read_only);
  EXPECT_EQ(exports[1].name, "both");
  EXPECT_TRUE(exports[1].read_only);
}

TEST_F(SessionAuthenticationTest, HidesWhatItMayNot) {
  enter();
  const Step hidden = attach("bobs");
  const Step missing = attach("bobz");
  EXPECT_EQ(hidden.send.value().header.status, Status::no_export);
  EXPECT_EQ(missing.send.value().header.status, Status::no_export);
  EXPECT_EQ(reason_of(hidden), "there is no export 'bobs'; those there are: alices, both");
  EXPECT_EQ(reason_of(missing), "there is no export 'bobz'; those there are: alices, both");
}

TEST_F(SessionAuthenticationTest, GivesNoMoreThanIsAllowed) {
  enter();
  const Step refused = attach("both", Access::read_write);
  EXPECT_EQ(refused.send.value().header.status, Status::read_only);
  EXPECT_THAT(reason_of(refused), HasSubstr("read-only for this client"));
  const Step granted = attach("both");
  ASSERT_NE(granted.attached, nullptr);
  EXPECT_EQ(granted.attached->reply().table.rkey, 11U) << "of the read-only registration";
  EXPECT_TRUE(std::get<protocol::AttachReply>(granted.send->payload).info.read_only);
  EXPECT_EQ(attach("alices", Access::read_write).attached->reply().table.rkey, 22U);
}

TEST_F(SessionAuthenticationTest, SendsNoTokenThatOthersCouldUse) {
  enter();
  const Step step = attach("alices");
  EXPECT_EQ(std::get<protocol::AttachReply>(step.send.value().payload).token, protocol::Token{});
}

class QueueAuthenticationTest : public SessionAuthenticationTest {
 protected:
  void SetUp() override {
    enter("bob", kKeyOfBob);
    reply_ = attach("both", Access::read_write).attached->reply();
    request_.epoch = reply_.epoch;
    request_.attachment = reply_.attachment;
    request_.nonce = reply_.nonce;
    request_.queue = 0;
    key_ = handshake("bob").session_key(kKeyOfBob);
    request_.proof = auth::queue_proof(*key_, request_);
  }

  protocol::AttachReply reply_;
  protocol::QueueRequest request_;
  std::optional<Key> key_;
};

TEST_F(QueueAuthenticationTest, AdmitsWhoHasTheSessionsKeyOnce) {
  EXPECT_EQ(admit(request_), Status::ok);
  EXPECT_EQ(admit(request_), Status::stale);
}

TEST_F(QueueAuthenticationTest, AProofIsOfOneQueueOneEpochAndOneAttachment) {
  auto other = request_;
  ++other.queue;
  EXPECT_EQ(admit(other), Status::no_attachment);
  other = request_;
  ++other.epoch;
  EXPECT_EQ(admit(other), Status::no_attachment);
  const auto second = attach("both").attached->reply();
  other = request_;
  other.attachment = second.attachment;
  EXPECT_EQ(admit(other), Status::no_attachment);
  other.nonce = second.nonce;
  EXPECT_EQ(admit(other), Status::no_attachment);
}

TEST_F(QueueAuthenticationTest, TheTokenIsNoProof) {
  request_.proof = reply_.token;
  EXPECT_EQ(admit(request_), Status::no_attachment);
}

TEST_F(QueueAuthenticationTest, TheClientsKeyIsNotTheSessions) {
  request_.proof = auth::queue_proof(kKeyOfBob, request_);
  EXPECT_EQ(admit(request_), Status::no_attachment);
}

TEST_F(QueueAuthenticationTest, EveryBitCounts) {
  for (std::size_t bit = 0; bit < 256; ++bit) {
    auto other = request_;
    other.proof[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_EQ(admit(other), Status::no_attachment) << bit;
  }
}

TEST_F(QueueAuthenticationTest, ComesFromAnAllowedAddress) {
  EXPECT_EQ(admit(request_, "198.51.100.1:4711"), Status::unauthorized);
}

}  // namespace
}  // namespace rdmablk::target
