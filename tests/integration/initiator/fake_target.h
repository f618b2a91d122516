#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/protocol/message_channel.h"
#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/registered_buffer.h"
#include "initiator/wake_event.h"

namespace rdmablk::testing {

/// A target of one export "disk" that runs on a thread of this process, and fails the way a test
/// tells it to. The export lies in memory, also when it is served as a file is.
class FakeTarget final : private cm::RequestHandler, private cm::EventHandler {
 public:
  static constexpr std::size_t kSize = 1 << 20;

  /// Where it can break off.
  enum class Step { admin_request, admin_accepted, hello, attach, queue_request, queue_accepted };

  /// What it does, and what was asked of it. Only within change() and look().
  struct Script {
    std::vector<Step> deaths;  ///< steps at which it breaks off, once each, in this order
    bool refuses_connections = false;
    protocol::ExportKind kind = protocol::ExportKind::memory;  ///< or file
    bool answers_commands = true;                              ///< on I/O queues of a file
    /// Of the next commands, in this order; nothing: none. They are not done.
    std::deque<std::optional<protocol::Status>> next_answers;
    protocol::Status connect_status = protocol::Status::ok;  ///< of the next admin queue, once
    protocol::Status attach_status = protocol::Status::ok;
    protocol::Generation generation{std::byte{1}};
    std::uint64_t lease = 7;
    std::uint32_t keepalive_ms = 0;
    bool lists_for_ever = false;  ///< a page a millisecond, each behind a notice that it shuts down

    std::vector<protocol::Hello> hellos;
    std::vector<protocol::Attach> attaches;
    std::vector<protocol::QueueRequest> queues;
  };

  FakeTarget();
  ~FakeTarget() override;
  FakeTarget(const FakeTarget&) = delete;
  FakeTarget& operator=(const FakeTarget&) = delete;

  HostPort host_port() const;

  void change(const std::function<void(Script&)>& how);
  template <typename Look>
  auto look(Look what) {
    const std::lock_guard lock(mutex_);
    return what(static_cast<const Script&>(script_));
  }

  /// Loses connections, as if their queue pairs had been destroyed.
  void drop_queues();
  void drop_admin();

  /// Does nothing any more, while its device goes on; until thaw().
  void freeze() {
    frozen_ = true;
    wake_.signal();
  }
  void thaw() {
    frozen_ = false;
    wake_.signal();
  }

 private:
  struct Peer;
  struct IoQueue {
    std::unique_ptr<verbs::CompletionQueue> cq;
    std::unique_ptr<cm::Connection> connection;
  };

  void run();
  void wait();
  void perform(std::function<void()> what);
  bool dies_at(Step step);
  void end_queues();
  void on_request(std::unique_ptr<cm::Connection> connection,
                  std::span<const std::byte> private_data) override;
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void take_admin(std::unique_ptr<cm::Connection> connection);
  void take_queue(std::unique_ptr<cm::Connection> connection,
                  const protocol::QueueRequest& request);
  void answer(Peer& peer, const protocol::Message& message);
  void answer_command(Peer& peer, const protocol::Message& message);
  void answer_list(Peer& peer, const protocol::Message& message);
  void answer_attach(Peer& peer, const protocol::Message& message);
  void sweep();

  std::mutex mutex_;
  Script script_;
  initiator::WakeEvent wake_;
  std::atomic<bool> frozen_ = false;
  std::atomic<bool> ended_ = false;
  std::function<void()> command_;  // under the mutex
  std::atomic<bool> has_command_ = false;

  asio::io_context io_{1};
  DescriptorWatch wake_watch_{io_, wake_.fd(), [this] { wake_.take(); }};
  std::unique_ptr<cm::ConnectionManager> manager_;
  std::unique_ptr<cm::Listener> listener_;
  ibv_context* device_;
  verbs::ProtectionDomain pd_;
  verbs::RegisteredBuffer memory_;
  verbs::RegisteredBuffer table_;
  std::list<std::unique_ptr<Peer>> peers_;  ///< who sends messages
  std::list<IoQueue> queues_;               ///< one-sided ones
  std::vector<const cm::Connection*> gone_;
  std::uint64_t last_attachment_ = 0;
  std::thread thread_;
};

}  // namespace rdmablk::testing
