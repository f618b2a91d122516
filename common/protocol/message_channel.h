#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "common/protocol/header.h"
#include "common/protocol/wire.h"
#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/queue_pair.h"
#include "common/verbs/registered_buffer.h"

namespace rdmablk::protocol {

/// Is told what comes over a message channel. Must not destroy the channel from within.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;

  /// @param message its payload is valid during the call only.
  virtual void on_message(const Message& message) = 0;

  /// Whether it takes one more message now. One that is not taken waits for the next poll(), and so
  /// do those behind it; what breaks the channel does not.
  virtual bool takes_more() { return true; }

  /// The peer sent something that is no message.
  /// @return whether the channel goes on, so that a last word of this end gets out; on_broken()
  /// follows otherwise.
  virtual bool on_malformed() { return false; }

  /// The channel is of no use any more; said once.
  /// @param reason one line for people.
  virtual void on_broken(const std::string& reason) = 0;
};

/// SEND and RECV of messages on one queue pair, the same on both ends. Receives are posted before
/// the connection is made, and again before a message is handled, so that the receiver is always
/// ready for a peer that keeps to its credits. A message is handled only when there is room to send
/// one: an answer may arrive before the completion of the send that it answers. Its protection
/// domain should hold nothing else. Used by one thread.
class MessageChannel {
  /// Messages on their way. One that has been answered may still wait for its own completion while
  /// as many new ones are sent, and an EVENT and a KEEPALIVE besides.
  static constexpr unsigned kSends = 2 * kAdminCredits + 2;

 public:
  /// Of its one memory region.
  static constexpr std::size_t kRegisteredBytes = (kAdminReceives + kSends) * kMaxMessage;

  /// Throws MemlockError or SystemError.
  explicit MessageChannel(const verbs::ProtectionDomain& pd);

  /// What the queue pair of a channel must hold.
  static verbs::QueuePairOptions queue_pair_options();
  const verbs::CompletionQueue& completion_queue() const noexcept { return cq_; }

  /// Posts all receives. Before the queue pair is connected; it outlives the channel's use.
  /// Throws SystemError.
  void start(verbs::QueuePair& qp);

  /// Readable when poll() has something to do.
  int fd() const noexcept { return events_.fd(); }

  /// Handles all that has come, and arms the completion queue again.
  void poll(MessageHandler& handler);

  /// Sends a message.
  /// @return false when the peer does not take its messages (no buffer is free) or the queue is
  /// down: the connection is of no use then.
  template <typename Payload>
  bool send(const Header& header, const Payload& payload) {
    const auto slot = take_send_slot();
    if (!slot) return false;
    WireWriter writer(send_buffer(*slot).subspan(kHeaderSize));
    payload.encode(writer);
    return writer.ok() &&
           post_send(*slot, finish_message(send_buffer(*slot), header, writer.size()));
  }

  bool broken() const noexcept { return broken_; }

  /// Whether a message is still on its way, as far as this end knows.
  bool is_sending() const noexcept { return sending_.any(); }

 private:
  struct Arrived {
    unsigned slot;
    std::size_t length;
  };

  std::span<std::byte> send_buffer(unsigned slot) const noexcept;
  std::optional<unsigned> take_send_slot() noexcept;
  bool post_send(unsigned slot, std::size_t length) noexcept;
  int post_receive(unsigned slot) noexcept;
  void complete(const ibv_wc& completion, MessageHandler& handler);
  void handle_arrived(MessageHandler& handler, bool regardless = false);
  void receive(Arrived arrived, MessageHandler& handler);
  void break_off(const std::string& reason, MessageHandler& handler);

  verbs::RegisteredBuffer buffers_;  // receives first, then sends
  verbs::CompletionChannel events_;
  verbs::CompletionQueue cq_;
  verbs::QueuePair* qp_ = nullptr;
  std::bitset<kSends> sending_;
  std::deque<Arrived> arrived_;  // and not handled yet; at most kAdminReceives
  bool broken_ = false;
};

/// A message without a payload.
struct Empty {
  void encode(WireWriter& /*writer*/) const {}
};

}  // namespace rdmablk::protocol
