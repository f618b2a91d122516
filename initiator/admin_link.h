#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "common/descriptor_watch.h"
#include "common/protocol/message_channel.h"
#include "common/protocol/messages.h"
#include "common/verbs/protection_domain.h"
#include "initiator/control_loop.h"
#include "initiator/link.h"

namespace rdmablk::initiator {

/// The admin queue of a session: asks the target and waits for its answers, and takes its events.
class AdminLink final : public protocol::MessageHandler {
 public:
  /// Connects. Throws ConnectError or SystemError.
  AdminLink(ControlLoop& loop, const SocketAddress& peer, ControlLoop::Clock::time_point deadline);

  ibv_context* device() const noexcept { return link_->device(); }

  /// Sends a request and waits for its reply, driving the control loop.
  /// @param doing what is being done, for the error: "attach export 'disk'".
  /// Throws Error when the target says no, breaks off, answers nonsense or not in time.
  template <typename Reply, typename Request>
  Reply ask(const std::string& doing, protocol::MessageType type, const Request& request,
            ControlLoop::Clock::time_point deadline) {
    const auto reply = Reply::decode(exchange(doing, type, request, deadline));
    if (!reply) fail(doing, "the target's answer makes no sense");
    return *reply;
  }

  /// The same for a request whose reply carries nothing.
  template <typename Request>
  void tell(const std::string& doing, protocol::MessageType type, const Request& request,
            ControlLoop::Clock::time_point deadline) {
    exchange(doing, type, request, deadline);
  }

  /// Calls `handler`, on the thread that runs the control loop, when the queue is lost.
  void on_lost(std::function<void()> handler) { on_lost_ = std::move(handler); }
  bool lost() const noexcept { return lost_; }

 private:
  template <typename Request>
  std::vector<std::byte> exchange(const std::string& doing, protocol::MessageType type,
                                  const Request& request, ControlLoop::Clock::time_point deadline) {
    reply_.reset();
    waiting_for_ = {type, false, protocol::Status::ok, next_tag_++};
    if (!channel_.send(waiting_for_, request)) fail(doing, "the connection to the target is down");
    return wait_for_reply(doing, deadline);
  }

  std::vector<std::byte> wait_for_reply(const std::string& doing,
                                        ControlLoop::Clock::time_point deadline);
  [[noreturn]] static void fail(const std::string& doing, const std::string& why);

  void on_message(const protocol::Message& message) override;
  void on_broken(const std::string& reason) override;
  void on_target_event(const protocol::Message& message);
  void lose(const std::string& reason);

  struct Reply {
    protocol::Status status;
    std::vector<std::byte> payload;
  };

  AdminLink(ControlLoop& loop, std::unique_ptr<Link> link, ControlLoop::Clock::time_point deadline);

  ControlLoop& loop_;
  verbs::ProtectionDomain pd_;  // holds nothing but message buffers
  protocol::MessageChannel channel_;
  std::unique_ptr<Link> link_;  // owns the queue pair: goes before the channel's completion queue
  std::optional<DescriptorWatch> watch_;
  std::uint64_t next_tag_ = 1;
  protocol::Header waiting_for_;
  std::optional<Reply> reply_;
  bool lost_ = false;
  std::string lost_reason_;
  std::function<void()> on_lost_;
};

}  // namespace rdmablk::initiator
