#include "target/command_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/error.h"
#include "common/protocol/io_messages.h"

namespace rdmablk::target {
namespace {

using protocol::kHeaderSize;
using protocol::kMaxMessage;

/// Marks the work request number of a receive; a send has its slot alone.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 32;

/// Marks that of a send whose buffer was free at once: of those a slot may have several.
constexpr std::uint64_t kInline = std::uint64_t{1} << 33;

/// Sends that fit a queue pair, for each slot: as many are under way again before the completion
/// of a later one has told of those before.
constexpr unsigned kSendsPerSlot = 2;

}  // namespace

CommandChannel::CommandChannel(const verbs::ProtectionDomain& pd, unsigned commands)
    : slots_(commands),
      buffers_(pd, std::size_t{2} * commands * kMaxMessage, IBV_ACCESS_LOCAL_WRITE),
      events_(pd.context()),
      cq_(pd.context(), (1 + kSendsPerSlot) * commands, &events_),
      posted_(kSendsPerSlot * commands) {
  replies_.reserve(commands);
}

verbs::QueuePairOptions CommandChannel::queue_pair_options() const {
  verbs::QueuePairOptions options;
  options.send_requests = kSendsPerSlot * static_cast<unsigned>(slots_.size());
  options.inline_bytes = protocol::kShortMessage;
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
  // Each time that it is armed makes one event. One that is left over makes a later call in vain.
  events_.take();
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
    const auto visit = [&](std::uint64_t wr_id) { sent(wr_id, handler); };
    if (!posted_.complete(completion.wr_id, visit)) break_off(verbs::kUnknownCompletion, handler);
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

void CommandChannel::sent(std::uint64_t wr_id, CommandHandler& handler) noexcept {
  if ((wr_id & kInline) != 0 || over_) return;
  const auto number = static_cast<unsigned>(wr_id);
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
  while (!over_ && !left.empty() && posted_.room() > 0) {
    const auto batch =
        left.first(std::min<std::size_t>(left.size(), std::min(kBatch, posted_.room())));
    left = left.subspan(batch.size());
    // Before the answers, which let the peer send what needs them.
    if (const int error = post_receives(batch)) {
      break_off(fmt::format("cannot post a receive: {}", errno_text(error)), handler);
    } else if (const int failure = post_sends(batch)) {
      break_off(fmt::format("cannot post a reply: {}", errno_text(failure)), handler);
    }
  }
  if (over_) left = {};
  replies_.erase(replies_.begin(), replies_.end() - static_cast<std::ptrdiff_t>(left.size()));
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
    describe_send(slots[i], requests[i], segments[i]);
    if (must_tell(i + 1 == slots.size())) requests[i].send_flags |= IBV_SEND_SIGNALED;
    if (i > 0) requests[i - 1].next = &requests[i];
  }
  ibv_send_wr* unposted = nullptr;
  return qp_->post_send(requests[0], unposted);
}

void CommandChannel::describe_send(unsigned number, ibv_send_wr& request,
                                   ibv_sge& segment) noexcept {
  Slot& slot = slots_[number];
  slot.busy = false;
  slot.sending = slot.reply_size > qp_->inline_bytes();
  is_awaited_ |= slot.sending;
  segment = {reinterpret_cast<std::uintptr_t>(send_buffer(number).data()), slot.reply_size,
             buffers_.lkey()};
  request = {};
  request.wr_id = slot.sending ? number : kInline | next_number_++;
  request.opcode = IBV_WR_SEND;
  request.send_flags = slot.sending ? 0U : unsigned{IBV_SEND_INLINE};
  request.sg_list = &segment;
  request.num_sge = 1;
  posted_.add(request.wr_id);
}

/// Whether the completion of the send that was just added is needed: to know of a buffer, or of
/// room for others, long before it is used up.
bool CommandChannel::must_tell(bool is_last) noexcept {
  ++quiet_;
  const bool tells = 2 * quiet_ >= slots_.size() || (is_last && is_awaited_);
  if (tells) {
    quiet_ = 0;
    is_awaited_ = false;
  }
  return tells;
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
