#include "target/session_protocol.h"

#include <fmt/format.h>

#include <limits>

#include "target/export_identity.h"
#include "target/store_grant.h"

namespace rdmablk::target {
namespace {

using protocol::Header;
using protocol::Message;
using protocol::MessageType;
using protocol::Reason;
using protocol::Status;

/// The tag of the one notice that may be unacknowledged.
constexpr std::uint64_t kEventTag = 1;

Step answer(const Message& message, Outgoing::Payload payload, Status status = Status::ok) {
  Step step;
  step.send =
      Outgoing{Header{message.header.type, true, status, message.header.tag}, std::move(payload)};
  return step;
}

Step refuse(const Message& message, Status status, std::string reason) {
  return answer(message, Reason{std::move(reason)}, status);
}

bool is_zero(const protocol::Generation& generation) {
  return generation == protocol::Generation{};
}

}  // namespace

SessionProtocol::SessionProtocol(std::uint32_t id, const protocol::InstanceId& target,
                                 const Catalog& catalog, const Limits& limits)
    : id_(id), target_(target), catalog_(catalog), limits_(limits) {}

Step SessionProtocol::handle(const Message& message) {
  if (state_ == State::over) return {};
  if (message.header.type == MessageType::error) return peer_error(message);
  if (message.header.is_reply) return reply(message);
  const bool is_hello = message.header.type == MessageType::hello;
  if (is_hello != awaits_hello()) {
    return malformed(is_hello ? "HELLO may come only once" : "HELLO must come first");
  }
  return request(message);
}

Step SessionProtocol::request(const Message& message) {
  switch (message.header.type) {
    case MessageType::hello:
      return hello(message);
    case MessageType::list:
      return list(message);
    case MessageType::attach:
      return attach(message);
    case MessageType::detach:
      return detach(message);
    case MessageType::keepalive:
      return answer(message, protocol::Empty{});
    case MessageType::event:
      return malformed("EVENT is for the target to send");
    case MessageType::authenticate:
      return refuse(message, Status::not_supported, "this target does not authenticate anyone");
    default:
      return refuse(message, Status::not_supported,
                    fmt::format("messages of type {} are not for an admin queue of this target",
                                static_cast<unsigned>(message.header.type)));
  }
}

Step SessionProtocol::hello(const Message& message) {
  const auto request = protocol::Hello::decode(message.payload);
  if (!request) return malformed("HELLO is malformed");
  if (request->version_min > protocol::kVersion || request->version_max < protocol::kVersion) {
    const std::string reason =
        fmt::format("this target speaks version {} of the protocol, the initiator {} to {}",
                    protocol::kVersion, request->version_min, request->version_max);
    Step step = refuse(message, Status::version, reason);
    step.over = reason;
    state_ = State::over;
    return step;
  }
  state_ = State::ready;
  protocol::HelloReply reply;
  reply.target = target_;
  reply.version = protocol::kVersion;
  reply.credits = protocol::kAdminCredits;
  reply.session = id_;
  reply.max_message = protocol::kMaxMessage;
  Step step = answer(message, reply);
  step.greeted = true;
  return step;
}

Step SessionProtocol::list(const Message& message) {
  const auto request = protocol::List::decode(message.payload);
  if (!request) return malformed("LIST is malformed");
  return answer(message, catalog_.page(request->after));
}

std::optional<Step> SessionProtocol::refuse_attach(const Message& message,
                                                   const protocol::Attach& request,
                                                   const Offer* offer) const {
  if (state_ == State::leaving) {
    return refuse(message, Status::shutting_down, "the target is about to end");
  }
  if (offer == nullptr) {
    return refuse(message, Status::no_export,
                  fmt::format("there is no export '{}'; those there are: {}", request.name,
                              catalog_.names()));
  }
  if (request.flags != 0) {
    return refuse(message, Status::not_supported,
                  fmt::format("this target knows no flags {:#x} of ATTACH", request.flags));
  }
  if (request.access == protocol::Access::read_write && !offer->read_write) {
    return refuse(
        message, Status::read_only,
        fmt::format("export '{}' is read-only: attach it for reading (mount -o ro)", request.name));
  }
  if (!is_zero(request.generation) && request.generation != offer->identity->generation()) {
    return refuse(message, Status::stale,
                  fmt::format("the content of export '{}' is not what it was", request.name));
  }
  if (attachments_.size() >= limits_.attachments ||
      last_attachment_ == std::numeric_limits<std::uint32_t>::max()) {
    return refuse(
        message, Status::limit,
        fmt::format("this session has {} attachments, no more are possible", attachments_.size()));
  }
  return std::nullopt;
}

Step SessionProtocol::attach(const Message& message) {
  auto request = protocol::Attach::decode(message.payload);
  if (!request) return malformed("ATTACH is malformed");
  const Offer* const offer = catalog_.find(request->name);
  if (auto refusal = refuse_attach(message, *request, offer)) return std::move(*refusal);
  std::shared_ptr<StoreUse> use;
  if (offer->is_served(request->access)) {
    use = grant_store(*offer, *request, limits_);
    if (!use) {
      return refuse(message, Status::limit,
                    "the target's memory for I/O queues of file exports is used up; its "
                    "administrator may raise --slot-memory");
    }
  }
  const std::uint64_t id = (std::uint64_t{id_} << 32U) | ++last_attachment_;
  const Attachment& made =
      attachments_.emplace(id, Attachment(id, *offer, *request, limits_, std::move(use)))
          .first->second;
  Step step = answer(message, made.reply());
  step.attached = &made;
  return step;
}

Step SessionProtocol::detach(const Message& message) {
  const auto request = protocol::Detach::decode(message.payload);
  if (!request) return malformed("DETACH is malformed");
  if (attachments_.erase(request->attachment) == 0) {
    return refuse(message, Status::no_attachment,
                  fmt::format("this session has no attachment {:#x}", request->attachment));
  }
  Step step = answer(message, protocol::Empty{});
  step.detached = request->attachment;
  return step;
}

Step SessionProtocol::peer_error(const Message& message) {
  state_ = State::over;
  const auto reason = Reason::decode(message.payload);
  Step step;
  step.over = fmt::format("the initiator reports an error: {}",
                          reason ? reason->text : "without a word that can be understood");
  return step;
}

Step SessionProtocol::reply(const Message& message) {
  const bool expected = event_outstanding_ && message.header.type == MessageType::event &&
                        message.header.tag == kEventTag;
  if (!expected) return malformed("a reply to no request came");
  event_outstanding_ = false;
  Step step;
  step.acknowledged = true;
  return step;
}

Step SessionProtocol::malformed(const std::string& reason) {
  Step step;
  step.send = abandon(Status::malformed, reason);
  step.over = reason;
  return step;
}

Outgoing SessionProtocol::abandon(Status status, const std::string& reason) {
  state_ = State::over;
  return {Header{MessageType::error, false, status, 0}, Reason{reason}};
}

std::optional<Outgoing> SessionProtocol::say_goodbye() {
  if (state_ != State::ready) return std::nullopt;
  state_ = State::leaving;
  event_outstanding_ = true;
  protocol::EventNotice notice;
  notice.kind = protocol::EventKind::shutting_down;
  return Outgoing{Header{MessageType::event, false, Status::ok, kEventTag}, notice};
}

std::variant<const Attachment*, protocol::QueueRefusal> SessionProtocol::admit(
    const protocol::QueueRequest& request) {
  using protocol::QueueRefusal;
  if (state_ == State::leaving) {
    return QueueRefusal{Status::shutting_down, "the target is about to end"};
  }
  const auto found = attachments_.find(request.attachment);
  if (state_ != State::ready || found == attachments_.end()) {
    return QueueRefusal{Status::no_attachment, "there is no such attachment"};
  }
  if (auto refusal = found->second.admit(request)) return std::move(*refusal);
  return &found->second;
}

void SessionProtocol::release(std::uint64_t attachment, std::uint16_t queue) noexcept {
  const auto found = attachments_.find(attachment);
  if (found != attachments_.end()) found->second.release(queue);
}

}  // namespace rdmablk::target
