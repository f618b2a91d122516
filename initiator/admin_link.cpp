#include "initiator/admin_link.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/protocol/private_data.h"

namespace rdmablk::initiator {

using protocol::MessageType;
using protocol::Status;

AdminLink::AdminLink(ControlLoop& loop, const SocketAddress& peer,
                     ControlLoop::Clock::time_point deadline)
    : AdminLink(loop, std::make_unique<Link>(loop, peer, deadline), deadline) {}

AdminLink::AdminLink(ControlLoop& loop, std::unique_ptr<Link> link,
                     ControlLoop::Clock::time_point deadline)
    : loop_(loop), pd_(link->device()), channel_(pd_), link_(std::move(link)) {
  auto& qp = link_->create_queue_pair(pd_, channel_.completion_queue(),
                                      protocol::MessageChannel::queue_pair_options());
  channel_.start(qp);
  watch_.emplace(loop.io(), channel_.fd(), [this] { channel_.poll(*this); });
  link_->on_lost([this] { lose("the target closed the connection"); });
  link_->connect(protocol::QueueRequest{}.encode(), deadline);
}

void AdminLink::fail(const std::string& doing, const std::string& why) {
  throw Error(fmt::format("cannot {}: {}", doing, why));
}

std::vector<std::byte> AdminLink::wait_for_reply(const std::string& doing,
                                                 ControlLoop::Clock::time_point deadline) {
  const bool in_time = loop_.run_until(deadline, [&] { return reply_.has_value() || lost_; });
  if (!in_time) fail(doing, "the target did not answer in time");
  if (!reply_) fail(doing, lost_reason_);
  if (reply_->status != Status::ok) {
    const auto reason = protocol::Reason::decode(reply_->payload);
    const bool has_text = reason && !reason->text.empty();
    fail(doing, has_text ? reason->text : protocol::status_text(reply_->status));
  }
  return std::move(reply_->payload);
}

void AdminLink::on_message(const protocol::Message& message) {
  const protocol::Header& header = message.header;
  if (header.is_reply) {
    // An answer to what was given up long ago is dropped.
    if (header.type == waiting_for_.type && header.tag == waiting_for_.tag) {
      reply_ = Reply{header.status, {message.payload.begin(), message.payload.end()}};
    }
  } else if (header.type == MessageType::event) {
    on_target_event(message);
  } else if (header.type == MessageType::keepalive) {
    channel_.send({MessageType::keepalive, true, Status::ok, header.tag}, protocol::Empty{});
  } else if (header.type == MessageType::error) {
    const auto reason = protocol::Reason::decode(message.payload);
    lose(
        fmt::format("the target ended the session: {}", reason ? reason->text : "no reason given"));
  }
}

void AdminLink::on_target_event(const protocol::Message& message) {
  const auto event = protocol::EventNotice::decode(message.payload);
  if (event && event->kind == protocol::EventKind::shutting_down) {
    spdlog::warn("the target is shutting down");
  }
  channel_.send({MessageType::event, true, Status::ok, message.header.tag}, protocol::Empty{});
}

void AdminLink::on_broken(const std::string& reason) {
  lose(reason);
}

void AdminLink::lose(const std::string& reason) {
  if (lost_) return;
  lost_ = true;
  lost_reason_ = reason;
  link_->disconnect();
  if (on_lost_) on_lost_();
}

}  // namespace rdmablk::initiator
