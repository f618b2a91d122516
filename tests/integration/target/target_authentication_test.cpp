// A target that asks who its initiators are, and initiators that say it right, wrong, too late or
// in somebody else's words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/auth/handshake.h"
#include "common/auth/queue_proof.h"
#include "common/auth/secret_file.h"
#include "common/error.h"
#include "common/random.h"
#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using auth::Key;
using protocol::Access;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;
using ::testing::Not;

std::string line_of(const std::string& client, const Key& key) {
  return client + " " + std::string(key.text().view()) + "\n";
}

template <typename Payload>
std::vector<std::byte> encode(const Payload& payload) {
  std::vector<std::byte> bytes(protocol::kMaxMessage);
  protocol::WireWriter writer(bytes);
  payload.encode(writer);
  bytes.resize(writer.size());
  return bytes;
}

/// An initiator's side of the handshake, step by step.
class KnownInitiator {
 public:
  KnownInitiator(EventWaiter& waiter, const SocketAddress& target) : raw_(waiter, target) {}

  RawInitiator& raw() noexcept { return raw_; }

  protocol::HelloReply hello() {
    protocol::Hello hello;
    hello.instance = random_bytes<protocol::InstanceId>();
    hello.version_min = hello.version_max = protocol::kVersion;
    hello_ = encode(hello);
    reply_ = raw_.request(MessageType::hello, hello).payload;
    return protocol::HelloReply::decode(reply_).value();
  }

  auth::Handshake handshake(const std::string& client) const {
    return {hello_, reply_, client, nonce_};
  }

  protocol::Authenticate proof_of(const std::string& client, const Key& key) const {
    return {client, nonce_, handshake(client).client_proof(key)};
  }

  Received authenticate(const std::string& client, const Key& key) {
    return raw_.request(MessageType::authenticate, proof_of(client, key));
  }

  /// The whole way in. Throws Error.
  void enter(const std::string& client, const Key& key) {
    hello();
    const auto received = authenticate(client, key);
    if (received.header.status != Status::ok) throw Error("refused: " + received.reason());
    const auto reply = protocol::AuthenticateReply::decode(received.payload).value();
    EXPECT_EQ(reply.proof, handshake(client).target_proof(key));
    session_key_ = handshake(client).session_key(key);
  }

  protocol::QueueRequest queue(const protocol::AttachReply& attached, std::uint16_t number = 0) {
    auto request = queue_request(attached, number);
    request.proof = auth::queue_proof(session_key_.value(), request);
    return request;
  }

 private:
  RawInitiator raw_;
  std::vector<std::byte> hello_;
  std::vector<std::byte> reply_;
  protocol::Token nonce_ = random_bytes<protocol::Token>();
  std::optional<Key> session_key_;
};

class TargetAuthenticationTest : public ::testing::Test {
 protected:
  void TearDown() override { target_.show_log_if_failed(); }

  std::string write_keys(const std::string& content) {
    const std::string path = directory_.path("keys");
    const std::string next = directory_.path("keys.new");
    auth::create_secret_file(next, content);
    std::filesystem::rename(next, path);
    return path;
  }

  Status refusal_of(const protocol::QueueRequest& request) {
    const RawQueue queue(waiter_, target_.address(), request.encode());
    return queue.refusal() ? queue.refusal()->status : Status::ok;
  }

  target::ScratchDirectory directory_;
  Key alices_ = Key::generate();
  Key bobs_ = Key::generate();
  TargetProcess target_{{"--auth", write_keys(line_of("alice", alices_) + line_of("bob", bobs_)),
                         "--export", "disk=memory:1M,allow=alice,allow=bob:ro", "--export",
                         "bobs=memory:1M,allow=bob"}};
  EventWaiter waiter_;
  KnownInitiator initiator_{waiter_, target_.address()};
};

TEST_F(TargetAuthenticationTest, LetsInWhoHasTheKey) {
  initiator_.enter("alice", alices_);
  const auto attached = initiator_.raw().attach("disk", Access::read_write);
  EXPECT_EQ(attached.token, protocol::Token{});
  RawQueue queue(waiter_, target_.address(), initiator_.queue(attached).encode());
  ASSERT_TRUE(queue.connected());
  EXPECT_FALSE(queue.read_table(attached.table).empty());
}

TEST_F(TargetAuthenticationTest, RefusesAWrongKeyAndAnUnknownNameAlike) {
  initiator_.hello();
  const auto wrong = initiator_.authenticate("alice", bobs_);
  initiator_.raw().wait_until_disconnected();
  KnownInitiator other(waiter_, target_.address());
  other.hello();
  const auto unknown = other.authenticate("mallory", bobs_);
  EXPECT_EQ(wrong.header.status, Status::unauthorized);
  EXPECT_EQ(unknown.header.status, Status::unauthorized);
  EXPECT_EQ(wrong.payload, unknown.payload);
}

TEST_F(TargetAuthenticationTest, RefusesARecordedHandshake) {
  initiator_.hello();
  const auto recorded = initiator_.proof_of("alice", alices_);
  ASSERT_EQ(initiator_.raw().request(MessageType::authenticate, recorded).header.status,
            Status::ok);
  KnownInitiator thief(waiter_, target_.address());
  thief.hello();
  const auto received = thief.raw().request(MessageType::authenticate, recorded);
  EXPECT_EQ(received.header.status, Status::unauthorized);
  thief.raw().wait_until_disconnected();
}

TEST_F(TargetAuthenticationTest, AnswersNothingElseBefore) {
  initiator_.hello();
  const auto received = initiator_.raw().request(MessageType::list, protocol::List{});
  EXPECT_EQ(received.header.type, MessageType::error);
  EXPECT_EQ(received.header.status, Status::unauthorized);
  initiator_.raw().wait_until_disconnected();
  KnownInitiator other(waiter_, target_.address());
  other.hello();
  const auto attach =
      other.raw().request(MessageType::attach, attach_request("disk", Access::read_only));
  EXPECT_EQ(attach.header.status, Status::unauthorized);
  EXPECT_THAT(attach.reason(), Not(HasSubstr("disk")));
}

TEST_F(TargetAuthenticationTest, RefusesARecordedQueue) {
  initiator_.enter("alice", alices_);
  const auto attached = initiator_.raw().attach("disk", Access::read_write);
  const auto recorded = initiator_.queue(attached);
  {
    RawQueue queue(waiter_, target_.address(), recorded.encode());
    ASSERT_TRUE(queue.connected());
    EXPECT_EQ(refusal_of(recorded), Status::stale) << "while it is connected";
    EXPECT_FALSE(queue.read_table(attached.table).empty()) << "it has not noticed";
  }
  EXPECT_EQ(refusal_of(recorded), Status::stale) << "when it is gone";
}

/// It came to nothing for want of room, and whoever listened has its proof.
TEST_F(TargetAuthenticationTest, RefusesARecordedQueueThatWasRefused) {
  TargetProcess narrow({"--auth", directory_.path("keys"), "--export", "disk=memory:1M",
                        "--max-session-queues", "1"});
  KnownInitiator alice(waiter_, narrow.address());
  alice.enter("alice", alices_);
  const auto attached = alice.raw().attach("disk", Access::read_write, 2);
  const auto recorded = alice.queue(attached, 1);
  const auto refusal = [&] {
    const RawQueue queue(waiter_, narrow.address(), recorded.encode());
    return queue.refusal() ? queue.refusal()->status : Status::ok;
  };
  {
    const RawQueue first(waiter_, narrow.address(), alice.queue(attached, 0).encode());
    ASSERT_TRUE(first.connected());
    EXPECT_EQ(refusal(), Status::limit);
  }
  while (narrow.counts().find(" io_queues=0 draining=0 ") == std::string::npos) {
  }
  EXPECT_EQ(refusal(), Status::stale);
}

TEST_F(TargetAuthenticationTest, RefusesTheProofOfAnotherQueue) {
  initiator_.enter("alice", alices_);
  const auto first = initiator_.raw().attach("disk", Access::read_only, 2);
  const auto second = initiator_.raw().attach("disk", Access::read_only);
  auto changed = initiator_.queue(first);
  changed.queue = 1;
  EXPECT_EQ(refusal_of(changed), Status::no_attachment);
  changed = initiator_.queue(first);
  ++changed.epoch;
  EXPECT_EQ(refusal_of(changed), Status::no_attachment);
  changed = initiator_.queue(first);
  changed.attachment = second.attachment;
  EXPECT_EQ(refusal_of(changed), Status::no_attachment);
  changed = queue_request(first);  // with the token
  EXPECT_EQ(refusal_of(changed), Status::no_attachment);
  EXPECT_EQ(refusal_of(initiator_.queue(first)), Status::ok);
}

TEST_F(TargetAuthenticationTest, AnotherClientCannotProveAQueue) {
  initiator_.enter("alice", alices_);
  const auto attached = initiator_.raw().attach("disk", Access::read_only);
  KnownInitiator bob(waiter_, target_.address());
  bob.enter("bob", bobs_);
  EXPECT_EQ(refusal_of(bob.queue(attached)), Status::no_attachment);
}

TEST_F(TargetAuthenticationTest, NobodyCanTellWhichAttachmentsThereAre) {
  initiator_.enter("alice", alices_);
  auto guess = queue_request(initiator_.raw().attach("disk", Access::read_only));
  const auto answer = [&] {
    const RawQueue queue(waiter_, target_.address(), guess.encode());
    return queue.refusal().value();
  };
  const auto live = answer();
  ++guess.attachment;
  const auto no_attachment = answer();
  guess.attachment += std::uint64_t{1} << 40;
  const auto no_session = answer();
  for (const auto& other : {no_attachment, no_session}) {
    EXPECT_EQ(other.status, live.status);
    EXPECT_EQ(other.text, live.text);
  }
}

TEST_F(TargetAuthenticationTest, GivesEachClientWhatItMayHave) {
  initiator_.enter("alice", alices_);
  const auto hidden =
      initiator_.raw().request(MessageType::attach, attach_request("bobs", Access::read_only));
  EXPECT_EQ(hidden.header.status, Status::no_export);
  EXPECT_EQ(hidden.reason(), "there is no export 'bobs'; those there are: disk");
  KnownInitiator bob(waiter_, target_.address());
  bob.enter("bob", bobs_);
  const auto refused =
      bob.raw().request(MessageType::attach, attach_request("disk", Access::read_write));
  EXPECT_EQ(refused.header.status, Status::read_only);
  EXPECT_NO_THROW(bob.raw().attach("disk", Access::read_only));
  EXPECT_NO_THROW(bob.raw().attach("bobs", Access::read_write));
}

TEST_F(TargetAuthenticationTest, NobodyComesBackWithTheLeaseOfAnotherClient) {
  TargetProcess common({"--auth", directory_.path("keys"), "--export", "disk=memory:1M"});
  KnownInitiator alice(waiter_, common.address());
  alice.enter("alice", alices_);
  const auto before = alice.raw().attach("disk", Access::read_write);
  alice.raw().request(MessageType::detach, protocol::Detach{before.attachment});
  auto back = attach_request("disk", Access::read_write);
  back.lease = before.lease;
  KnownInitiator bob(waiter_, common.address());
  bob.enter("bob", bobs_);
  EXPECT_EQ(bob.raw().request(MessageType::attach, back).header.status, Status::fenced);
  EXPECT_EQ(alice.raw().request(MessageType::attach, back).header.status, Status::ok);
}

TEST_F(TargetAuthenticationTest, ReloadingEndsSessionsOfThoseWhoAreGoneAndNoOthers) {
  initiator_.enter("alice", alices_);
  KnownInitiator bob(waiter_, target_.address());
  bob.enter("bob", bobs_);
  const Key next = Key::generate();
  write_keys(line_of("alice", next));
  target_.reload();
  const auto farewell = bob.raw().receive();
  EXPECT_EQ(farewell.header.type, MessageType::error);
  EXPECT_EQ(farewell.header.status, Status::unauthorized);
  EXPECT_THAT(farewell.reason(), HasSubstr("removed from the keys"));
  bob.raw().wait_until_disconnected();
  EXPECT_NO_THROW(initiator_.raw().attach("disk", Access::read_write)) << "rotated, not removed";
  KnownInitiator late(waiter_, target_.address());
  EXPECT_THROW(late.enter("alice", alices_), Error);
  KnownInitiator renewed(waiter_, target_.address());
  EXPECT_NO_THROW(renewed.enter("alice", next));
}

TEST_F(TargetAuthenticationTest, AReloadThatFailsChangesNothing) {
  initiator_.enter("alice", alices_);
  write_keys("alice nonsense\n");
  target_.reload();
  target_.wait_for_log("the keys stay as they were");
  EXPECT_NO_THROW(initiator_.raw().attach("disk", Access::read_write));
  KnownInitiator other(waiter_, target_.address());
  EXPECT_NO_THROW(other.enter("bob", bobs_));
}

TEST_F(TargetAuthenticationTest, DropsWhoDoesNotSayWhoItIs) {
  TargetProcess hasty({"--auth", directory_.path("keys"), "--export", "disk=memory:1M",
                       "--handshake-timeout", "0.1"});
  KnownInitiator silent(waiter_, hasty.address());
  silent.hello();
  const auto received = silent.raw().receive();
  EXPECT_EQ(received.header.type, MessageType::error);
  EXPECT_EQ(received.reason(), "it did not say who it is within 0.1 s");
  silent.raw().wait_until_disconnected();
}

}  // namespace
}  // namespace rdmablk::testing
