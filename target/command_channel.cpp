#include "target/command_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/error.h"

namespace rdmablk::target {
namespace {

using protocol::kHeaderSize;
using protocol::kMaxMessage;

/// Marks the work request number of a receive; a send has its slot alone.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 32;

}  // namespace

CommandChannel::CommandChannel(const verbs::ProtectionDomain& pd, unsigned commands)
    : slots_(commands),
      buffers_(pd, std::size_t{2} * commands * kMaxMessage, IBV_ACCESS_LOCAL_WRITE),
      events_(pd.context()),
      cq_(pd.context(), 2 * commands, &events_) {}

verbs::QueuePairOptions CommandChannel::queue_pair_options() const {
  verbs::QueuePairOptions options;
  options.send_requests = static_cast<unsigned>(slots_.size());
  options.receive_requests = static_cast<unsigned>(slots_.size());
  return options;
}

std::span<std::byte> CommandChannel::send_buffer(unsigned slot) const noexcept {
  return buffers_.piece(slots_.size() + slot, kMaxMessage);
}

std::span<std::byte> CommandChannel::reply_payload(unsigned slot) const noexcept {
  return send_buffer(slot).subspan(kHeaderSize);
}

void CommandChannel::start(verbs::QueuePair& qp) {
  qp_ = &qp;
  cq_.arm();
  for (unsigned i = 0; i < slots_.size(); ++i) {
    if (const int error = post_receive(i)) throw SystemError("post a receive", error);
  }
}

int CommandChannel::post_receive(unsigned receive) noexcept {
  const auto buffer = buffers_.piece(receive, kMaxMessage);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()),
                  static_cast<std::uint32_t>(buffer.size()), buffers_.lkey()};
  ibv_recv_wr request{};
  request.wr_id = kReceive | receive;
  request.sg_list = &segment;
  request.num_sge = 1;
  return qp_->post_receive(request);
}

void CommandChannel::poll(CommandHandler& handler) noexcept {
  events_.drain();
  std::array<ibv_wc, 32> completions;
  bool armed = false;
  while (!over_) {
    const std::size_t count = cq_.poll(completions);
    if (count == 0) {
      if (armed) return;
      // What comes between the last poll and arming causes no event: poll once more.
      cq_.arm();
      armed = true;
      continue;
    }
    for (const ibv_wc& completion : std::span(completions).first(count)) {
      if (!over_) complete(completion, handler);
    }
  }
}

void CommandChannel::complete(const ibv_wc& completion, CommandHandler& handler) noexcept {
  if (completion.status != IBV_WC_SUCCESS) {
    const bool flushed = completion.status == IBV_WC_WR_FLUSH_ERR;
    break_off(flushed ? "disconnected" : verbs::describe(completion), handler);
  } else if ((completion.wr_id & kReceive) != 0) {
    receive(static_cast<unsigned>(completion.wr_id & ~kReceive), completion.byte_len, handler);
  } else {
    sent(static_cast<unsigned>(completion.wr_id), handler);
  }
}

void CommandChannel::receive(unsigned receive, std::size_t length,
                             CommandHandler& handler) noexcept {
  const auto buffer = buffers_.piece(receive, kMaxMessage);
  const auto message = protocol::decode_message(buffer.first(std::min(length, buffer.size())));
  if (!message || message->header.is_reply) {
    return violate("a message came on an I/O queue that is no request", handler);
  }
  if (message->header.tag >= slots_.size() || slots_[message->header.tag].busy) {
    return violate("a request came for a slot that is busy, or that there is not", handler);
  }
  const auto number = static_cast<unsigned>(message->header.tag);
  Slot& slot = slots_[number];
  slot.busy = true;
  slot.receive = receive;
  slot.message = *message;
  slot.waiting = slot.sending;
  if (!slot.waiting) handler.on_command(number, slot.message);
}

void CommandChannel::sent(unsigned number, CommandHandler& handler) noexcept {
  Slot& slot = slots_[number];
  slot.sending = false;
  if (!slot.waiting) return;
  slot.waiting = false;
  handler.on_command(number, slot.message);
}

void CommandChannel::reply(unsigned number, protocol::Status status, std::size_t payload_size,
                           CommandHandler& handler) noexcept {
  if (over_) return;
  Slot& slot = slots_[number];
  if (const int error = post_receive(slot.receive)) {
    return break_off(fmt::format("cannot post a receive: {}", errno_text(error)), handler);
  }
  const auto buffer = send_buffer(number);
  const protocol::Header header{slot.message.header.type, true, status, number};
  ibv_sge segment{
      reinterpret_cast<std::uintptr_t>(buffer.data()),
      static_cast<std::uint32_t>(protocol::finish_message(buffer, header, payload_size)),
      buffers_.lkey()};
  ibv_send_wr request{};
  request.wr_id = number;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = &segment;
  request.num_sge = 1;
  slot.busy = false;
  slot.sending = true;
  ibv_send_wr* unposted = nullptr;
  if (const int error = qp_->post_send(request, unposted)) {
    break_off(fmt::format("cannot post a reply: {}", errno_text(error)), handler);
  }
}

void CommandChannel::break_off(const std::string& reason, CommandHandler& handler) noexcept {
  over_ = true;
  handler.on_broken(reason);
}

void CommandChannel::violate(const char* reason, CommandHandler& handler) noexcept {
  over_ = true;
  handler.on_violation(reason);
}

}  // namespace rdmablk::target
