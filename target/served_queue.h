#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/metrics/io_counters.h"
#include "common/protocol/io_messages.h"
#include "common/verbs/protection_domain.h"
#include "target/attachment.h"
#include "target/command_channel.h"
#include "target/counters.h"
#include "target/io_queue.h"
#include "target/io_thread.h"
#include "target/store_use.h"

namespace rdmablk::target {

/// What served queues need of the target.
struct ServedQueueContext {
  asio::io_context& io;  ///< of the control thread
  Counters& counters;
  IoThread& thread;    ///< that serves it
  IoThread& blocking;  ///< for system calls that block
};

/// An I/O queue whose requests the target's CPU works on, on an I/O thread. The control thread
/// makes and accepts it; from there on the I/O thread has the queue pair, until close(), which lets
/// it work off what it has begun.
class ServedQueue : public IoQueue, private CommandHandler, private ReadableHandler {
 public:
  ~ServedQueue() override;

  std::string peer() const final { return connection_->peer(); }
  Footprint footprint() const noexcept override;
  void accept() final;

 protected:
  /// Takes the peer's request to connect, without answering it yet. The queue pair is made in the
  /// protection domain of the attachment's grant; without one, in one of its own.
  /// @param commands requests at a time.
  /// Throws SystemError, and leaves the connection to the caller then.
  ServedQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
              std::uint16_t number, unsigned commands, QueueGround ground,
              const ServedQueueContext& context, IoQueueOwner& owner);

  const verbs::ProtectionDomain& protection_domain() const noexcept { return pd_; }
  IoThread& thread() const noexcept { return context_.thread; }
  IoThread& blocking() const noexcept { return context_.blocking; }
  StoreUse& use() const noexcept { return *use_; }

  // All that follows is for the I/O thread.

  /// Before the first request, and after the last one has ended.
  virtual void prepare() noexcept = 0;
  virtual void clean_up() noexcept = 0;

  /// The peer is gone: what takes several steps may end after the next, with an error.
  virtual void abandon() noexcept = 0;

  /// What QUEUE is answered.
  virtual protocol::QueueReply describe() const noexcept = 0;

  /// Begins a request, which lies within the export. It ends with end().
  /// @return why it breaks the rules; null when it does not.
  virtual const char* begin(unsigned slot, protocol::MessageType type,
                            const protocol::IoCommand& command) noexcept = 0;

  std::span<std::byte> reply_payload(unsigned slot) const noexcept {
    return channel_.reply_payload(slot);
  }

  /// A request that was begun has ended. @param error 0 or an errno value.
  void end(unsigned slot, int error, std::size_t payload_size = 0) noexcept;

 private:
  /// A task that is a member's call.
  class Call final : public IoTask {
   public:
    Call(ServedQueue& queue, void (ServedQueue::*call)() noexcept) : queue_(queue), call_(call) {}
    void run() noexcept override { (queue_.*call_)(); }

   private:
    ServedQueue& queue_;
    void (ServedQueue::*call_)() noexcept;
  };

  void begin_close() final;
  void on_readable() noexcept final;
  void on_command(unsigned slot, const protocol::Message& message) noexcept final;
  void on_violation(const char* reason) noexcept final;
  void on_broken(const std::string& reason) noexcept final;
  const char* take(unsigned slot, const protocol::Message& message) noexcept;
  void note(unsigned slot, protocol::MessageType type, const protocol::IoRequest& request) noexcept;
  void open(unsigned slot) noexcept;
  void start() noexcept;
  void stop() noexcept;
  void finish() noexcept;
  void reply(unsigned slot, protocol::Status status, std::size_t payload_size) noexcept;
  void post_later() noexcept;
  void post_replies() noexcept;

  ServedQueueContext context_;
  std::shared_ptr<StoreUse> use_;
  std::optional<verbs::ProtectionDomain> own_pd_;
  const verbs::ProtectionDomain& pd_;
  CommandChannel channel_;  // outlives the queue pair
  std::unique_ptr<cm::Connection> connection_;
  bool accepted_ = false;

  // Of the I/O thread.
  Call start_{*this, &ServedQueue::start};
  Call stop_{*this, &ServedQueue::stop};
  Call finish_{*this, &ServedQueue::finish};
  Call post_{*this, &ServedQueue::post_replies};
  bool posts_ = false;     ///< replies wait for the end of the thread's turn
  bool opened_ = false;    ///< QUEUE has come
  bool stopping_ = false;  ///< begins nothing any more
  unsigned busy_ = 0;      ///< requests begun and not ended

  /// The request in a slot, for who counts.
  struct Begun {
    metrics::IoKind kind{};
    std::uint64_t length = 0;
    IoThread::Clock::time_point at{};
  };

  metrics::IoCounters& counters_;  ///< the thread's, for the file
  std::vector<Begun> begun_;       ///< by slot
};

}  // namespace rdmablk::target
