#pragma once

#include <asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/log_limiter.h"
#include "common/protocol/message_channel.h"
#include "common/protocol/messages.h"
#include "common/protocol/use_report.h"
#include "common/verbs/protection_domain.h"
#include "initiator/control_loop.h"
#include "initiator/link.h"

namespace rdmablk::initiator {

/// The target answered a request with a status other than ok.
class RefusedError : public Error {
 public:
  RefusedError(const std::string& what, protocol::Status status) : Error(what), status_(status) {}

  protocol::Status status() const noexcept { return status_; }

 private:
  protocol::Status status_;
};

/// The admin queue of a session: asks the target and waits for its answers, and takes its events.
class AdminLink final : public protocol::MessageHandler {
 public:
  /// Connects. Throws ConnectError or SystemError.
  AdminLink(ControlLoop& loop, const SocketAddress& peer, ControlLoop::Clock::time_point deadline);

  ibv_context* device() const noexcept { return link_->device(); }

  /// Sends a request and waits for its reply, driving the control loop.
  /// @param doing what is being done, for the error: "attach export 'disk'".
  /// Throws RefusedError when the target says no, and Error when it breaks off, answers nonsense or
  /// not in time; it counts as lost then.
  template <typename Reply, typename Request>
  Reply ask(const std::string& doing, protocol::MessageType type, const Request& request,
            ControlLoop::Clock::time_point deadline) {
    const auto reply = Reply::decode(exchange(doing, type, request, deadline));
    if (!reply) give_up(doing, "the target's answer makes no sense");
    return *reply;
  }

  /// The same for a request whose reply carries nothing.
  template <typename Request>
  void tell(const std::string& doing, protocol::MessageType type, const Request& request,
            ControlLoop::Clock::time_point deadline) {
    exchange(doing, type, request, deadline);
  }

  /// What the target has told, and waits for an acknowledgement of.
  struct Event {
    std::uint64_t tag = 0;
    protocol::EventNotice notice;
  };

  /// An event that is to be taken up before it is acknowledged: that an export was resized. There
  /// is one at most, until acknowledge().
  bool has_event() const noexcept { return event_.has_value(); }
  std::optional<Event> take_event() { return std::exchange(event_, std::nullopt); }
  void acknowledge(const Event& event);

  /// From now on sends KEEPALIVE that often, as long as somebody drives the control loop. A target
  /// that leaves one unanswered for three times as long counts as lost.
  void keep_alive(std::chrono::milliseconds interval);

  /// Has each KEEPALIVE carry what was done so far; for a target that knows of that.
  void report_with(std::function<protocol::UseReport()> report) { report_ = std::move(report); }

  /// Reports now, unless a KEEPALIVE is unanswered, and does not wait for the answer.
  void report();

  /// Tells the target, as the last word before the connection ends, why this end leaves.
  void complain(const std::string& why);

  /// Ends the connection. @param reason why, for people.
  void lose(const std::string& reason);

  bool lost() const noexcept { return lost_; }

  /// Whether the loss says something against the path, and not that the target meant it.
  bool is_path_to_blame() const noexcept {
    return !ended_by_target_ && !link_->was_closed_by_peer();
  }
  const std::string& lost_reason() const noexcept { return lost_reason_; }

 private:
  template <typename Request>
  std::vector<std::byte> exchange(const std::string& doing, protocol::MessageType type,
                                  const Request& request, ControlLoop::Clock::time_point deadline) {
    reply_.reset();
    waiting_for_ = {type, false, protocol::Status::ok, next_tag_++};
    if (!channel_.send(waiting_for_, request)) {
      give_up(doing, "the connection to the target is down");
    }
    return wait_for_reply(doing, deadline);
  }

  std::vector<std::byte> wait_for_reply(const std::string& doing,
                                        ControlLoop::Clock::time_point deadline);
  [[noreturn]] void give_up(const std::string& doing, const std::string& why);

  void on_message(const protocol::Message& message) override;
  void on_broken(const std::string& reason) override;
  void on_reply(const protocol::Message& message);
  void on_target_event(const protocol::Message& message);
  void await_next_keepalive();
  void on_keepalive_due();
  bool send_keepalive();

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
  std::optional<Event> event_;
  bool is_event_unacknowledged_ = false;
  LogLimiter notices_{2};  ///< that the target gives
  bool lost_ = false;
  bool ended_by_target_ = false;
  std::string lost_reason_;
  std::function<protocol::UseReport()> report_;
  std::chrono::milliseconds keepalive_interval_{};
  asio::steady_timer keepalive_timer_;
  std::optional<ControlLoop::Clock::time_point> keepalive_sent_;  ///< and not answered
  Lifetime lifetime_;
};

}  // namespace rdmablk::initiator
