#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/protocol/message_channel.h"
#include "target/counters.h"
#include "target/io_queue.h"
#include "target/io_threads.h"
#include "target/limits.h"
#include "target/queue_drain.h"
#include "target/session_protocol.h"
#include "target/target_device.h"

namespace rdmablk::target {

class Session;

/// Is told when a session has ended.
class SessionOwner {
 public:
  virtual ~SessionOwner() = default;

  /// Destroys the session soon, but not from within this call. Said once.
  virtual void on_session_over(Session& session) = 0;
};

/// What the sessions of a target share; outlives them.
struct SessionEnvironment {
  asio::io_context& io;
  Counters& counters;
  const Limits& limits;
  protocol::InstanceId target;
  SessionOwner& owner;
  IoThreads* io_threads;  ///< null when no export has a file
  QueueDrain& drain;
};

/// One initiator: its admin queue, and the I/O queues of its attachments. It ends when its admin
/// queue does, and takes all I/O queues with it.
class Session final : private cm::EventHandler,
                      private protocol::MessageHandler,
                      private IoQueueOwner {
 public:
  /// Takes the request of an initiator to connect an admin queue, without answering it yet.
  /// @param id not zero; no other session of the target has it. @param device outlives the session.
  /// Throws MemlockError or SystemError, and leaves the connection to the caller then.
  Session(std::uint32_t id, std::unique_ptr<cm::Connection>& connection, const TargetDevice& device,
          const SessionEnvironment& environment);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Answers the request, and waits a limited time for HELLO. Throws SystemError.
  void accept();

  /// Takes a request to connect an I/O queue of one of this session's attachments, and answers it.
  /// @return why it was refused; nothing when it was accepted. Throws SystemError; the
  /// connection is the caller's to refuse then, unless it is gone.
  std::optional<protocol::QueueRefusal> connect_queue(std::unique_ptr<cm::Connection>& connection,
                                                      const protocol::QueueRequest& request);

  /// Tells the initiator that the target is about to end; the session ends when it has
  /// acknowledged.
  void say_goodbye();

  std::uint32_t id() const noexcept { return id_; }
  bool awaits_hello() const noexcept { return !over_ && protocol_.awaits_hello(); }

 private:
  using QueueKey = std::pair<std::uint64_t, std::uint16_t>;

  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void on_message(const protocol::Message& message) override;
  bool on_malformed() override;
  void on_broken(const std::string& reason) override;
  void on_queue_over(IoQueue& queue, const std::string& reason) override;
  void on_queue_violation(IoQueue& queue, const std::string& reason) override;

  void perform(const Step& step);
  std::unique_ptr<IoQueue> make_queue(std::unique_ptr<cm::Connection>& connection,
                                      const Attachment& attachment, std::uint16_t number);
  void detach(std::uint64_t attachment, const std::optional<Outgoing>& reply);
  void close_queues();
  bool send(const Outgoing& message);
  void start_deadline(std::chrono::milliseconds time, std::string reason);
  void on_deadline(const std::string& reason);
  void end_with(protocol::Status status, const std::string& reason);
  void linger(const std::string& reason);
  void finish(const std::string& reason);

  std::uint32_t id_;
  const TargetDevice& device_;
  const SessionEnvironment& environment_;
  std::string peer_;
  SessionProtocol protocol_;
  std::optional<std::string> last_word_;  // is on its way, and nothing else matters
  bool gone_ = false;                     // the peer has disconnected
  bool over_ = false;

  protocol::MessageChannel channel_;  // outlives its queue pair
  std::unique_ptr<cm::Connection> connection_;
  std::optional<DescriptorWatch> watch_;
  asio::steady_timer deadline_;
  std::map<QueueKey, std::unique_ptr<IoQueue>> queues_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
