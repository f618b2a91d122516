#include "initiator/command_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "common/descriptor_watch.h"
#include "common/error.h"
#include "common/protocol/message_channel.h"
#include "common/protocol/messages.h"
#include "common/verbs/context.h"

namespace rdmablk::initiator {

using protocol::kMaxMessage;
using protocol::MessageType;

namespace {

/// Waits for the reply to QUEUE.
class Opening final : public CommandHandler {
 public:
  bool on_reply(unsigned /*slot*/, protocol::Status status,
                std::span<const std::byte> payload) noexcept override {
    status_ = status;
    if (status == protocol::Status::ok) {
      reply_ = protocol::QueueReply::decode(payload);
    } else if (auto reason = protocol::Reason::decode(payload)) {
      reason_ = std::move(reason->text);
    }
    return true;  // or reply() says what is wrong
  }
  void on_free(unsigned /*slot*/) noexcept override { ended_ = true; }

  bool ended() const noexcept { return ended_; }

  const protocol::QueueReply& reply() const {
    if (status_ != protocol::Status::ok) {
      fail(reason_.empty() ? protocol::status_text(status_) : reason_);
    }
    if (!reply_) fail("the target's answer makes no sense");
    return *reply_;
  }

  [[noreturn]] static void fail(const std::string& why) {
    throw Error(fmt::format("cannot open an I/O queue: {}", why));
  }

 private:
  protocol::Status status_ = protocol::Status::ok;
  std::optional<protocol::QueueReply> reply_;
  std::string reason_;
  bool ended_ = false;
};

}  // namespace

CommandChannel::CommandChannel(const verbs::ProtectionDomain& pd, unsigned commands)
    : slots_(commands),
      buffers_(pd, std::size_t{2} * commands * kMaxMessage, IBV_ACCESS_LOCAL_WRITE) {}

std::span<std::byte> CommandChannel::receive_buffer(unsigned number) const noexcept {
  return buffers_.piece(number, kMaxMessage);
}

std::span<std::byte> CommandChannel::send_buffer(unsigned slot) const noexcept {
  return buffers_.piece(slots_.size() + slot, kMaxMessage);
}

void CommandChannel::start(verbs::QueuePair& qp) {
  qp_ = &qp;
  for (unsigned i = 0; i < commands(); ++i) {
    if (const int error = post_receive(i)) {
      throw SystemError("post a receive to an I/O queue", error);
    }
  }
}

protocol::QueueReply CommandChannel::open(ControlLoop& loop, const IdleQueue& queue,
                                          ControlLoop::Clock::time_point deadline) {
  const DescriptorWatch watch(loop.io(), queue.events.fd(), [&] {
    queue.events.drain();
    queue.cq.arm();
  });
  queue.cq.arm();
  SendBatch batch;
  add(batch, 0, MessageType::queue, protocol::Empty{});
  if (const int error = batch.post(queue.qp)) throw SystemError("open an I/O queue", error);
  Opening opening;
  const bool in_time = loop.run_until(deadline, [&] {
    ibv_wc completion{};
    while (!opening.ended() && queue.cq.poll({&completion, 1}) == 1) {
      if (completion.status != IBV_WC_SUCCESS) Opening::fail(verbs::describe(completion));
      if (const char* why = complete(completion, opening)) Opening::fail(why);
    }
    return opening.ended();
  });
  if (!in_time) Opening::fail("the target did not answer in time");
  return opening.reply();
}

void CommandChannel::add_send(SendBatch& batch, unsigned slot, MessageType type,
                              std::size_t payload_size) noexcept {
  const auto buffer = send_buffer(slot);
  const std::size_t size = protocol::finish_message(
      buffer, {.type = type, .is_reply = false, .status = protocol::Status::ok, .tag = slot},
      payload_size);
  ibv_send_wr& work = batch.add(IBV_WR_SEND, {reinterpret_cast<std::uintptr_t>(buffer.data()),
                                              static_cast<std::uint32_t>(size), buffers_.lkey()});
  work.wr_id = kOwned | slot;
  if (size <= qp_->inline_bytes()) work.send_flags |= IBV_SEND_INLINE;
  slots_[slot] = {type, true, true};
}

int CommandChannel::post_receive(unsigned number) noexcept {
  const auto buffer = receive_buffer(number);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()), kMaxMessage, buffers_.lkey()};
  ibv_recv_wr work{};
  work.wr_id = kOwned | kReceive | number;
  work.sg_list = &segment;
  work.num_sge = 1;
  return qp_->post_receive(work);
}

const char* CommandChannel::complete(const ibv_wc& completion, CommandHandler& handler) noexcept {
  if (!is_receive(completion)) {
    sent(completion.wr_id, handler);
    return nullptr;
  }
  const auto number = static_cast<unsigned>(completion.wr_id & ~(kOwned | kReceive));
  // The length of what is no message is not that of anything in the buffer.
  return receive(number, verbs::has_message(completion) ? completion.byte_len : 0, handler);
}

void CommandChannel::sent(std::uint64_t wr_id, CommandHandler& handler) noexcept {
  const auto slot = static_cast<unsigned>(wr_id & ~kOwned);
  slots_[slot].is_sending = false;
  if (is_free(slot)) handler.on_free(slot);
}

const char* CommandChannel::receive(unsigned number, std::size_t size,
                                    CommandHandler& handler) noexcept {
  const auto message = protocol::decode_message(
      receive_buffer(number).first(std::min<std::size_t>(size, kMaxMessage)));
  if (!message) return "the target sent something that is no message";
  const protocol::Header& header = message->header;
  const bool is_expected = header.is_reply && header.tag < slots_.size() &&
                           slots_[header.tag].is_waiting && slots_[header.tag].type == header.type;
  if (!is_expected) return "the target sent a reply that nothing waits for";
  const auto slot = static_cast<unsigned>(header.tag);
  slots_[slot].is_waiting = false;
  if (!handler.on_reply(slot, header.status, message->payload)) {
    return "the target sent a reply that makes no sense";
  }
  // Before anything is sent whose reply needs it.
  if (post_receive(number) != 0) return "cannot post a receive";
  if (is_free(slot)) handler.on_free(slot);
  return nullptr;
}

}  // namespace rdmablk::initiator
