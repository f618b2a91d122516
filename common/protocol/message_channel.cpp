#include "common/protocol/message_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "common/error.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::protocol {
namespace {

/// Marks the work request number of a receive; a send has its slot alone.
constexpr std::uint64_t kReceive = std::uint64_t{1} << 32;

}  // namespace

MessageChannel::MessageChannel(const verbs::ProtectionDomain& pd)
    : buffers_(pd, kRegisteredBytes, IBV_ACCESS_LOCAL_WRITE),
      events_(pd.context()),
      cq_(pd.context(), kAdminReceives + kSends, &events_) {}

verbs::QueuePairOptions MessageChannel::queue_pair_options() {
  verbs::QueuePairOptions options;
  options.send_requests = kSends;
  options.receive_requests = kAdminReceives;
  return options;
}

std::span<std::byte> MessageChannel::send_buffer(unsigned slot) const noexcept {
  return buffers_.piece(kAdminReceives + slot, kMaxMessage);
}

void MessageChannel::start(verbs::QueuePair& qp) {
  qp_ = &qp;
  cq_.arm();
  for (unsigned slot = 0; slot < kAdminReceives; ++slot) {
    if (const int error = post_receive(slot)) throw SystemError("post a receive", error);
  }
}

int MessageChannel::post_receive(unsigned slot) noexcept {
  const auto buffer = buffers_.piece(slot, kMaxMessage);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()),
                  static_cast<std::uint32_t>(buffer.size()), buffers_.lkey()};
  ibv_recv_wr request{};
  request.wr_id = kReceive | slot;
  request.sg_list = &segment;
  request.num_sge = 1;
  return qp_->post_receive(request);
}

std::optional<unsigned> MessageChannel::take_send_slot() noexcept {
  if (broken_ || qp_ == nullptr) return std::nullopt;
  for (unsigned slot = 0; slot < kSends; ++slot) {
    if (sending_[slot]) continue;
    sending_[slot] = true;
    return slot;
  }
  return std::nullopt;
}

bool MessageChannel::post_send(unsigned slot, std::size_t length) noexcept {
  const auto buffer = send_buffer(slot);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(buffer.data()),
                  static_cast<std::uint32_t>(length), buffers_.lkey()};
  ibv_send_wr request{};
  request.wr_id = slot;
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  request.sg_list = &segment;
  request.num_sge = 1;
  ibv_send_wr* unposted = nullptr;
  if (qp_->post_send(request, unposted) == 0) return true;
  sending_[slot] = false;
  return false;
}

void MessageChannel::poll(MessageHandler& handler) {
  events_.drain();
  handle_arrived(handler);
  std::array<ibv_wc, kAdminReceives + kSends> completions;
  bool armed = false;
  while (!broken_) {
    const std::size_t count = cq_.poll(completions);
    if (count == 0) {
      if (armed) return;
      // What comes between the last poll and arming causes no event: poll once more.
      cq_.arm();
      armed = true;
      continue;
    }
    for (const ibv_wc& completion : std::span(completions).first(count)) {
      if (!broken_) complete(completion, handler);
    }
  }
}

void MessageChannel::complete(const ibv_wc& completion, MessageHandler& handler) {
  if (completion.status != IBV_WC_SUCCESS) {
    handle_arrived(handler, true);
    // Work is flushed when the connection ends; on iWARP the event that says so comes later.
    const bool flushed = completion.status == IBV_WC_WR_FLUSH_ERR;
    break_off(flushed ? "the peer closed the admin queue"
                      : fmt::format("the admin queue failed: {}", verbs::describe(completion)),
              handler);
    return;
  }
  if ((completion.wr_id & kReceive) != 0) {
    // What is no message is told when its turn comes.
    arrived_.push_back({static_cast<unsigned>(completion.wr_id & ~kReceive),
                        verbs::has_message(completion) ? completion.byte_len : 0});
  } else {
    sending_[completion.wr_id] = false;
  }
  handle_arrived(handler);
}

void MessageChannel::handle_arrived(MessageHandler& handler, bool regardless) {
  while (!broken_ && !arrived_.empty()) {
    if (!regardless && (sending_.count() >= kAdminCredits || !handler.takes_more())) return;
    const Arrived next = arrived_.front();
    arrived_.pop_front();
    receive(next, handler);
  }
}

void MessageChannel::receive(Arrived arrived, MessageHandler& handler) {
  // A copy of our own, so that the receive can be posted again before any reply returns its credit,
  // and the peer cannot change what has been checked.
  std::array<std::byte, kMaxMessage> copy;
  const std::size_t length = std::min(arrived.length, copy.size());
  std::memcpy(copy.data(), buffers_.piece(arrived.slot, kMaxMessage).data(), length);
  if (const int error = post_receive(arrived.slot)) {
    return break_off(fmt::format("cannot post a receive: {}", errno_text(error)), handler);
  }
  const auto message = decode_message(std::span(copy).first(length));
  if (message) return handler.on_message(*message);
  if (!handler.on_malformed()) break_off("the peer sent a message that is no message", handler);
}

void MessageChannel::break_off(const std::string& reason, MessageHandler& handler) {
  broken_ = true;
  handler.on_broken(reason);
}

}  // namespace rdmablk::protocol
