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
      cq_(pd.context(), 2 * commands, &events_) {
  replies_.reserve(commands);
}

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

void CommandChannel::describe_receive(unsigned number, ibv_recv_wr& request,
                                      ibv_sge& segment) const noexcept {
  const auto buffer = buffers_.piece(number, kMaxMessage);
  segment = {reinterpret_cast<std::uintptr_t>(buffer.data()),
             static_cast<std::uint32_t>(buffer.size()), buffers_.lkey()};
  request = {};
  request.wr_id = kReceive | number;
  request.sg_list = &segment;
  request.num_sge = 1;
}

int CommandChannel::post_receive(unsigned number) noexcept {
  ibv_sge segment;
  ibv_recv_wr request;
  describe_receive(number, request, segment);
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
  } else if ((completion.wr_id & kReceive) == 0) {
    sent(static_cast<unsigned>(completion.wr_id), handler);
  } else if (!verbs::has_message(completion)) {
    violate("an immediate value came on an I/O queue in place of a message", handler);
  } else {
    receive(static_cast<unsigned>(completion.wr_id & ~kReceive), completion.byte_len, handler);
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

void CommandChannel::reply(unsigned number, protocol::Status status,
                           std::size_t payload_size) noexcept {
  Slot& slot = slots_[number];
  const protocol::Header header{slot.message.header.type, true, status, number};
  slot.reply_size = static_cast<std::uint32_t>(
      protocol::finish_message(send_buffer(number), header, payload_size));
  replies_.push_back(number);  // no allocation: there is room for every slot
}

void CommandChannel::post(CommandHandler& handler) noexcept {
  std::span<const unsigned> left = replies_;
  while (!over_ && !left.empty()) {
    const auto batch = left.first(std::min<std::size_t>(left.size(), kBatch));
    left = left.subspan(batch.size());
    // Before the answers, which let the peer send what needs them.
    if (const int error = post_receives(batch)) {
      break_off(fmt::format("cannot post a receive: {}", errno_text(error)), handler);
    } else if (const int failure = post_sends(batch)) {
      break_off(fmt::format("cannot post a reply: {}", errno_text(failure)), handler);
    }
  }
  replies_.clear();
}

int CommandChannel::post_receives(std::span<const unsigned> slots) noexcept {
  std::array<ibv_recv_wr, kBatch> requests;
  std::array<ibv_sge, kBatch> segments;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    describe_receive(slots_[slots[i]].receive, requests[i], segments[i]);
    if (i > 0) requests[i - 1].next = &requests[i];
  }
  return qp_->post_receive(requests[0]);
}

int CommandChannel::post_sends(std::span<const unsigned> slots) noexcept {
  std::array<ibv_send_wr, kBatch> requests;
  std::array<ibv_sge, kBatch> segments;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Slot& slot = slots_[slots[i]];
    slot.busy = false;
    slot.sending = true;
    segments[i] = {reinterpret_cast<std::uintptr_t>(send_buffer(slots[i]).data()), slot.reply_size,
                   buffers_.lkey()};
    ibv_send_wr& request = requests[i];
    request = {};
    request.wr_id = slots[i];
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = &segments[i];
    request.num_sge = 1;
    if (i > 0) requests[i - 1].next = &request;
  }
  ibv_send_wr* unposted = nullptr;
  return qp_->post_send(requests[0], unposted);
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
