// Commands on an I/O queue against a target that answers what it should not.
#include "initiator/command_channel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/verbs/registered_buffer.h"
#include "tests/integration/verbs/connected_pair.h"

namespace rdmablk::testing {
namespace {

using initiator::CommandChannel;
using protocol::Header;
using protocol::MessageType;
using protocol::Status;

constexpr unsigned kCommands = 4;
constexpr unsigned kSlot = 1;

/// A channel whose slot 1 waits for the answer to a READ, and its peer.
class Conversation final : private initiator::CommandHandler {
 public:
  Conversation() {
    channel_.start(pair_.initiator.qp());
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(bytes_.data()), protocol::kMaxMessage,
                    bytes_.lkey()};
    ibv_recv_wr receive{};
    receive.sg_list = &segment;
    receive.num_sge = 1;
    EXPECT_EQ(pair_.target.qp().post_receive(receive), 0);
    initiator::SendBatch batch;
    channel_.add(batch, kSlot, MessageType::read, protocol::IoRequest{0, 512, 0, 0});
    EXPECT_EQ(batch.post(pair_.initiator.qp()), 0);
    EXPECT_EQ(complete(), nullptr);
    EXPECT_EQ(pair_.wait(pair_.target).status, IBV_WC_SUCCESS);
  }

  bool is_iwarp() const { return pair_.is_iwarp(); }

  /// Has the target send bytes. @return what the channel has against them.
  const char* send_bytes(std::size_t size) {
    Work work(IBV_WR_SEND, bytes_.data(), size, bytes_.lkey(), 0, 0);
    return send(work);
  }
  const char* send(const Header& header, std::size_t payload_size = 0) {
    return send_bytes(
        protocol::finish_message(bytes_.piece(0, protocol::kMaxMessage), header, payload_size));
  }
  const char* send_immediate() {
    Work work(IBV_WR_RDMA_WRITE_WITH_IMM, bytes_.data(), 0, bytes_.lkey(), 0, 0);
    work.request.num_sge = 0;
    return send(work);
  }

  bool makes_sense = true;  ///< to the channel's owner
  unsigned replies = 0;
  unsigned freed = 0;

 private:
  const char* send(Work& work) {
    EXPECT_EQ(work.post(pair_.target), 0);
    EXPECT_EQ(pair_.wait(pair_.target).status, IBV_WC_SUCCESS);
    return complete();
  }
  const char* complete() {
    const ibv_wc completion = pair_.wait(pair_.initiator);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    return channel_.complete(completion, *this);
  }
  bool on_reply(unsigned slot, Status /*status*/,
                std::span<const std::byte> /*payload*/) noexcept override {
    EXPECT_EQ(slot, kSlot);
    ++replies;
    return makes_sense;
  }
  void on_free(unsigned slot) noexcept override {
    EXPECT_EQ(slot, kSlot);
    ++freed;
  }

  ConnectedPair pair_;
  CommandChannel channel_{*pair_.initiator.pd, kCommands};
  verbs::RegisteredBuffer bytes_{*pair_.target.pd, protocol::kMaxMessage, IBV_ACCESS_LOCAL_WRITE};
};

TEST(CommandChannelTest, TakesTheAnswerThatItWaitsForOnce) {
  Conversation conversation;
  EXPECT_EQ(conversation.send({MessageType::read, true, Status::ok, kSlot}), nullptr);
  EXPECT_EQ(conversation.replies, 1U);
  EXPECT_EQ(conversation.freed, 1U);
  EXPECT_NE(conversation.send({MessageType::read, true, Status::ok, kSlot}), nullptr);
  EXPECT_EQ(conversation.replies, 1U);
  EXPECT_EQ(conversation.freed, 1U);
}

TEST(CommandChannelTest, BelievesNoOtherAnswer) {
  struct Lie {
    const char* name;
    Header header;
  };
  for (const Lie& lie : {Lie{"a slot that waits for nothing", {MessageType::read, true, {}, 0}},
                         Lie{"no slot", {MessageType::read, true, {}, kCommands}},
                         Lie{"a slot far away", {MessageType::read, true, {}, UINT64_MAX}},
                         Lie{"another type", {MessageType::write, true, {}, kSlot}},
                         Lie{"an unknown type", {MessageType{999}, true, {}, kSlot}},
                         Lie{"a request", {MessageType::read, false, {}, kSlot}}}) {
    SCOPED_TRACE(lie.name);
    Conversation conversation;
    EXPECT_NE(conversation.send(lie.header), nullptr);
    EXPECT_EQ(conversation.replies, 0U);
    EXPECT_EQ(conversation.freed, 0U);
  }
}

TEST(CommandChannelTest, TellsWhatIsNoMessage) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, protocol::kMaxMessage}) {
    Conversation conversation;
    EXPECT_STREQ(conversation.send_bytes(size), "the target sent something that is no message");
  }
}

TEST(CommandChannelTest, TakesNoImmediateValueForAMessage) {
  Conversation conversation;
  if (conversation.is_iwarp()) GTEST_SKIP() << "iWARP has no immediate values";
  if (cm::default_method() == cm::Method::tcp) {
    GTEST_SKIP() << "by TCP the initiator's queue pair takes no WRITE at all";
  }
  EXPECT_NE(conversation.send_immediate(), nullptr);
  EXPECT_EQ(conversation.replies, 0U);
}

TEST(CommandChannelTest, TellsWhatMakesNoSenseToItsOwner) {
  Conversation conversation;
  conversation.makes_sense = false;
  EXPECT_NE(conversation.send({MessageType::read, true, Status::ok, kSlot}, 7), nullptr);
  EXPECT_EQ(conversation.freed, 0U);
}

}  // namespace
}  // namespace rdmablk::testing
