#include "initiator/admin_link.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/known_error.h"
#include "common/protocol/private_data.h"
#include "common/seconds.h"
#include "common/thread_log.h"

namespace rdmablk::initiator {

using protocol::MessageType;
using protocol::Status;

namespace {

/// Intervals without an answer after which a target is given up.
constexpr int kSilentIntervals = 3;

/// How long the last word to a target may take to get there.
constexpr std::chrono::milliseconds kLastWordPatience{500};

/// The shortest interval that is kept, whatever the target asks for.
constexpr std::chrono::milliseconds kMinInterval{10};

}  // namespace

AdminLink::AdminLink(ControlLoop& loop, const SocketAddress& peer,
                     ControlLoop::Clock::time_point deadline)
    : AdminLink(loop, std::make_unique<Link>(loop, peer, deadline), deadline) {}

AdminLink::AdminLink(ControlLoop& loop, std::unique_ptr<Link> link,
                     ControlLoop::Clock::time_point deadline)
    : loop_(loop),
      pd_(link->device()),
      channel_(pd_),
      link_(std::move(link)),
      keepalive_timer_(loop.io()) {
  auto& qp = link_->create_queue_pair(pd_, channel_.completion_queue(),
                                      protocol::MessageChannel::queue_pair_options());
  channel_.start(qp);
  watch_.emplace(loop.io(), channel_.fd(), [this] { channel_.poll(*this); });
  link_->on_lost([this] { lose(link_->failure()); });
  link_->connect(protocol::QueueRequest{}.encode(), deadline);
}

void AdminLink::give_up(const std::string& doing, const std::string& why) {
  lose(why);
  throw Error(fmt::format("cannot {}: {}", doing, why));
}

std::vector<std::byte> AdminLink::wait_for_reply(const std::string& doing,
                                                 ControlLoop::Clock::time_point deadline) {
  const bool in_time = loop_.run_until(deadline, [&] { return reply_.has_value() || lost_; });
  if (!in_time) {
    constexpr const char* kLate = "the target did not answer in time";
    lose(kLate);
    throw KnownError(ETIMEDOUT, fmt::format("cannot {}: {}", doing, kLate));
  }
  if (!reply_) give_up(doing, std::string(lost_reason_));
  if (reply_->status != Status::ok) {
    const auto reason = protocol::Reason::decode(reply_->payload);
    const bool has_text = reason && !reason->text.empty();
    throw RefusedError(fmt::format("cannot {}: {}", doing,
                                   has_text ? reason->text : protocol::status_text(reply_->status)),
                       reply_->status);
  }
  return std::move(reply_->payload);
}

void AdminLink::on_message(const protocol::Message& message) {
  const protocol::Header& header = message.header;
  if (header.is_reply) {
    on_reply(message);
  } else if (header.type == MessageType::event) {
    on_target_event(message);
  } else if (header.type == MessageType::keepalive) {
    channel_.send({MessageType::keepalive, true, Status::ok, header.tag}, protocol::Empty{});
  } else if (header.type == MessageType::error) {
    const auto reason = protocol::Reason::decode(message.payload);
    ended_by_target_ = true;
    lose(
        fmt::format("the target ended the session: {}", reason ? reason->text : "no reason given"));
  }
}

void AdminLink::on_reply(const protocol::Message& message) {
  const protocol::Header& header = message.header;
  if (header.type == MessageType::keepalive) {
    keepalive_sent_.reset();
  } else if (header.type == waiting_for_.type && header.tag == waiting_for_.tag && !reply_) {
    reply_ = Reply{header.status, {message.payload.begin(), message.payload.end()}};
  }
  // A second answer, and one to what was given up long ago, is dropped.
}

void AdminLink::on_target_event(const protocol::Message& message) {
  const auto event = protocol::EventNotice::decode(message.payload);
  if (!event || is_event_unacknowledged_) {
    return lose(event ? "the target sent an event before the last one was acknowledged"
                      : "the target sent an event that makes no sense");
  }
  if (event->kind == protocol::EventKind::resized) {
    is_event_unacknowledged_ = true;
    event_ = Event{message.header.tag, *event};
    return;
  }
  if (const auto line = notices_.note("the target is shutting down"))
    thread_log().warn("{}", *line);
  acknowledge({message.header.tag, *event});
}

void AdminLink::acknowledge(const Event& event) {
  is_event_unacknowledged_ = false;
  channel_.send({MessageType::event, true, Status::ok, event.tag}, protocol::Empty{});
}

void AdminLink::on_broken(const std::string& reason) {
  lose(reason);
}

/// Disconnecting at once would throw away what is still on its way.
void AdminLink::complain(const std::string& why) {
  const protocol::Header header{MessageType::error, false, Status::unauthorized, 0};
  if (lost_ || !channel_.send(header, protocol::Reason{why})) return;
  loop_.run_until(ControlLoop::Clock::now() + kLastWordPatience,
                  [this] { return lost_ || !channel_.is_sending(); });
}

void AdminLink::lose(const std::string& reason) {
  if (lost_) return;
  lost_ = true;
  lost_reason_ = reason;
  link_->disconnect();
}

void AdminLink::keep_alive(std::chrono::milliseconds interval) {
  keepalive_interval_ = std::max(interval, kMinInterval);
  await_next_keepalive();
}

void AdminLink::await_next_keepalive() {
  keepalive_timer_.expires_after(keepalive_interval_);
  keepalive_timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error) on_keepalive_due();
  }));
}

/// One that has nothing to report is empty, as in the first version.
bool AdminLink::send_keepalive() {
  const protocol::Header header{MessageType::keepalive, false, Status::ok, next_tag_++};
  const auto report = report_ ? report_() : protocol::UseReport{};
  const bool sent = report.entries.empty() ? channel_.send(header, protocol::Empty{})
                                           : channel_.send(header, report);
  if (sent) keepalive_sent_ = ControlLoop::Clock::now();
  return sent;
}

void AdminLink::report() {
  if (report_ && !keepalive_sent_ && !lost_ && !send_keepalive()) lose("the connection is down");
}

void AdminLink::on_keepalive_due() {
  // It may be this end that was not running: an answer that lies there counts.
  channel_.poll(*this);
  if (lost_) return;
  const auto now = ControlLoop::Clock::now();
  if (!keepalive_sent_) {
    if (!send_keepalive()) return lose("the connection is down");
  } else if (now - *keepalive_sent_ >= kSilentIntervals * keepalive_interval_) {
    return lose(fmt::format("the target has not answered for {:.1f} s",
                            in_seconds(now - *keepalive_sent_)));
  }
  await_next_keepalive();
}

}  // namespace rdmablk::initiator
