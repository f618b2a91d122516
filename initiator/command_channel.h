#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/protocol/io_messages.h"
#include "common/verbs/queue_pair.h"
#include "common/verbs/registered_buffer.h"
#include "initiator/control_loop.h"
#include "initiator/remote_read.h"
#include "initiator/send_batch.h"

namespace rdmablk::initiator {

/// Is told what becomes of commands.
class CommandHandler {
 public:
  virtual ~CommandHandler() = default;

  /// The target has answered. Posts nothing.
  /// @param payload valid during the call only.
  /// @return whether it makes sense.
  virtual bool on_reply(unsigned slot, protocol::Status status,
                        std::span<const std::byte> payload) noexcept = 0;

  /// The answer has come, and the SEND has completed: the slot may carry another command,
  /// from within if need be.
  virtual void on_free(unsigned slot) noexcept = 0;
};

/// Commands on an I/O queue and the target's replies: a message buffer for each slot, and as many
/// receives. It knows which slots wait for which reply, and believes no other. Belongs to the one
/// thread that uses the queue; nothing allocates after setting up.
class CommandChannel {
 public:
  /// @param commands slots, and receives. @param pd outlives it. Throws MemlockError, SystemError.
  CommandChannel(const verbs::ProtectionDomain& pd, unsigned commands);
  CommandChannel(const CommandChannel&) = delete;
  CommandChannel& operator=(const CommandChannel&) = delete;

  unsigned commands() const noexcept { return static_cast<unsigned>(slots_.size()); }

  /// Posts all receives. Before the queue pair is connected; it outlives the channel's use.
  /// Throws SystemError.
  void start(verbs::QueuePair& qp);

  /// Opens the queue with QUEUE, its first message, and waits for the reply, driving the control
  /// loop. Nobody else uses the queue yet. Throws Error.
  protocol::QueueReply open(ControlLoop& loop, const IdleQueue& queue,
                            ControlLoop::Clock::time_point deadline);

  /// Adds a command's SEND to a batch. @pre is_free(slot); the payload fits.
  template <typename Payload>
  void add(SendBatch& batch, unsigned slot, protocol::MessageType type,
           const Payload& payload) noexcept {
    protocol::WireWriter writer(send_buffer(slot).subspan(protocol::kHeaderSize));
    payload.encode(writer);
    add_send(batch, slot, type, writer.size());
  }

  bool is_free(unsigned slot) const noexcept {
    return !slots_[slot].is_sending && !slots_[slot].is_waiting;
  }

  /// Whether a work request is of the channel.
  static bool owns(std::uint64_t wr_id) noexcept { return (wr_id & kOwned) != 0; }
  static bool owns(const ibv_wc& completion) noexcept { return owns(completion.wr_id); }

  /// Whether it is one of its receives.
  static bool is_receive(const ibv_wc& completion) noexcept {
    return owns(completion) && (completion.wr_id & kReceive) != 0;
  }

  /// Takes a completion of its own that succeeded.
  /// @return null, or why the queue can be used no more.
  const char* complete(const ibv_wc& completion, CommandHandler& handler) noexcept;

  /// The same for a SEND that a later completion has told of.
  void sent(std::uint64_t wr_id, CommandHandler& handler) noexcept;

 private:
  static constexpr std::uint64_t kOwned = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kReceive = std::uint64_t{1} << 62U;

  struct Slot {
    protocol::MessageType type{};
    bool is_waiting = false;  ///< for its reply
    bool is_sending = false;
  };

  std::span<std::byte> send_buffer(unsigned slot) const noexcept;
  std::span<std::byte> receive_buffer(unsigned number) const noexcept;
  void add_send(SendBatch& batch, unsigned slot, protocol::MessageType type,
                std::size_t payload_size) noexcept;
  int post_receive(unsigned number) noexcept;
  const char* receive(unsigned number, std::size_t size, CommandHandler& handler) noexcept;

  std::vector<Slot> slots_;
  verbs::RegisteredBuffer buffers_;  ///< receives first, then sends
  verbs::QueuePair* qp_ = nullptr;
};

}  // namespace rdmablk::initiator
