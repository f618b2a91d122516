#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/protocol/header.h"
#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/posted_sends.h"
#include "common/verbs/queue_pair.h"
#include "common/verbs/registered_buffer.h"

namespace rdmablk::target {

/// Is told what comes over a command channel. On the thread that polls it.
class CommandHandler {
 public:
  /// A request for a free slot. It ends with CommandChannel::reply(), now or later.
  /// @param message its payload stays valid until the reply.
  virtual void on_command(unsigned slot, const protocol::Message& message) noexcept = 0;

  /// The peer broke the rules; nothing more comes. @param reason for people.
  virtual void on_violation(const char* reason) noexcept = 0;

  /// The queue pair does not work any more; nothing more comes.
  virtual void on_broken(const std::string& reason) noexcept = 0;

 protected:
  ~CommandHandler() = default;
};

/// The target's end of the messages on an I/O queue: requests come in by receives and are answered
/// by SENDs, at most one a slot at a time; a request's tag is its slot. A receive is posted again
/// before the reply that lets the peer use its slot anew, so no request meets a receiver that is
/// not ready. Made by one thread and polled by one, which may be another. No allocation after
/// construction.
class CommandChannel {
 public:
  /// @param pd of the queue pair; outlives the channel. @param commands slots.
  /// Throws MemlockError or SystemError.
  CommandChannel(const verbs::ProtectionDomain& pd, unsigned commands);

  /// What the queue pair needs; its completions go to completion_queue().
  verbs::QueuePairOptions queue_pair_options() const;
  const verbs::CompletionQueue& completion_queue() const noexcept { return cq_; }

  /// Posts the receives; before the peer's request to connect is accepted. Throws SystemError.
  void start(verbs::QueuePair& qp);

  /// Readable when there is something to poll.
  int fd() const noexcept { return events_.fd(); }

  /// Handles what has come, until there is nothing more, and arms the channel.
  void poll(CommandHandler& handler) noexcept;

  /// Takes nothing more, and answers nothing more.
  void end() noexcept { over_ = true; }

  /// Where the payload of a slot's reply goes, from on_command() to reply().
  std::span<std::byte> reply_payload(unsigned slot) const noexcept;

  /// Makes the answer to the request of a slot, which goes out with post().
  void reply(unsigned slot, protocol::Status status, std::size_t payload_size) noexcept;

  /// Sends the answers that were made, in one go; their slots are free from then on. Those that
  /// find no room wait for the next call. Does nothing on a broken channel.
  void post(CommandHandler& handler) noexcept;

  /// Whether answers wait for post().
  bool has_unsent() const noexcept { return !replies_.empty(); }

 private:
  struct Slot {
    bool busy = false;     ///< a request is being worked on
    bool sending = false;  ///< its last reply is on its way, from its buffer
    bool waiting = false;  ///< its request waits for that
    unsigned receive = 0;  ///< the receive that its request came with
    std::uint32_t reply_size = 0;
    protocol::Message message;
  };

  void complete(const ibv_wc& completion, CommandHandler& handler) noexcept;
  void receive(unsigned receive, std::size_t length, CommandHandler& handler) noexcept;
  void sent(std::uint64_t wr_id, CommandHandler& handler) noexcept;
  static constexpr unsigned kBatch = 16;

  int post_receive(unsigned receive) noexcept;
  int post_receives(std::span<const unsigned> slots) noexcept;
  int post_sends(std::span<const unsigned> slots) noexcept;
  void describe_send(unsigned slot, ibv_send_wr& request, ibv_sge& segment) noexcept;
  bool must_tell(bool is_last) noexcept;
  void describe_receive(unsigned receive, ibv_recv_wr& request, ibv_sge& segment) const noexcept;
  void break_off(const std::string& reason, CommandHandler& handler) noexcept;
  void violate(const char* reason, CommandHandler& handler) noexcept;
  std::span<std::byte> send_buffer(unsigned slot) const noexcept;

  std::vector<Slot> slots_;
  std::vector<unsigned> replies_;    ///< slots whose answers have not been posted
  verbs::RegisteredBuffer buffers_;  ///< receives first, then sends
  verbs::CompletionChannel events_;
  verbs::CompletionQueue cq_;
  verbs::QueuePair* qp_ = nullptr;
  verbs::PostedSends posted_;
  std::uint32_t next_number_ = 0;  ///< for sends whose slot does not tell them apart
  unsigned quiet_ = 0;             ///< sends since the last one that is signalled
  bool is_awaited_ = false;        ///< one of them is needed to have completed, for its buffer
  bool over_ = false;
};

}  // namespace rdmablk::target
