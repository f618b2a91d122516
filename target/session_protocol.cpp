#include "target/session_protocol.h"

#include <fmt/format.h>

#include <utility>

namespace rdmablk::target {
namespace {

using protocol::Header;
using protocol::Message;
using protocol::MessageType;
using protocol::Reason;
using protocol::Status;

Step answer(const Message& message, Outgoing::Payload payload) {
  return target::answer(message.header.type, message.header.tag, std::move(payload));
}

Step refuse(const Message& message, Status status, std::string reason) {
  return target::refuse(message.header.type, message.header.tag, status, std::move(reason));
}

Step refuse_type(const Message& message) {
  return refuse(message, Status::not_supported,
                fmt::format("messages of type {} are not for an admin queue of this target",
                            static_cast<unsigned>(message.header.type)));
}

}  // namespace

SessionProtocol::SessionProtocol(std::uint32_t id, const protocol::InstanceId& target,
                                 const Catalog& catalog, const Limits& limits, std::string address,
                                 ClientBudgets* budgets, const ClientKeys* keys)
    : id_(id),
      target_(target),
      limits_(limits),
      peer_{std::move(address), {}, {}},
      view_(catalog, peer_),
      authenticator_(keys),
      attachments_(id, limits, peer_, budgets, session_key_) {}

Step SessionProtocol::handle(const Message& message) {
  if (state_ == State::over) return {};
  if (message.header.type == MessageType::error) return peer_error(message);
  if (message.header.is_reply) return reply(message);
  if (auto refusal = refuse_early(message)) return std::move(*refusal);
  return request(message);
}

/// A request may come too early, or once too often.
std::optional<Step> SessionProtocol::refuse_early(const Message& message) {
  const bool is_hello = message.header.type == MessageType::hello;
  const bool is_authenticate = message.header.type == MessageType::authenticate;
  if (is_hello != (state_ == State::awaiting_hello)) {
    return malformed(is_hello ? "HELLO may come only once" : "HELLO must come first");
  }
  if (state_ == State::awaiting_authentication && !is_authenticate) {
    return end(Status::unauthorized, "AUTHENTICATE must come first");
  }
  if (state_ == State::joining) return malformed("a request came before the target's greeting");
  if (is_open() && is_authenticate && authenticator_.is_needed()) {
    return malformed("AUTHENTICATE may come only once");
  }
  return std::nullopt;
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
      return keepalive(message);
    case MessageType::event:
      return malformed("EVENT is for the target to send");
    case MessageType::authenticate:
      return authenticate(message);
    case MessageType::table:
      return takes_paths() ? table(message) : refuse_type(message);
    default:
      return refuse_type(message);
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
  peer_.instance = request->instance;
  peer_.features = limits_.features.common_with(request->features);
  protocol::HelloReply reply;
  reply.target = target_;
  reply.features = peer_.features;
  reply.version = protocol::kVersion;
  reply.credits = protocol::kAdminCredits;
  reply.session = id_;
  reply.keepalive_ms = static_cast<std::uint32_t>(limits_.keepalive.count());
  reply.max_message = protocol::kMaxMessage;
  authenticator_.begin(message.payload, reply);
  if (!authenticator_.is_needed()) return begin_joining(*answer(message, reply).send);
  state_ = State::awaiting_authentication;
  return answer(message, reply);
}

/// One attempt. What it is answered with tells nothing but that it failed.
Step SessionProtocol::authenticate(const Message& message) {
  if (!authenticator_.is_needed()) {
    return refuse(message, Status::not_supported, "this target does not authenticate anyone");
  }
  const auto request = protocol::Authenticate::decode(message.payload);
  if (!request) return malformed("AUTHENTICATE is malformed");
  const auto proved = authenticator_.check(*request);
  if (!proved) {
    state_ = State::over;
    Step step = refuse(message, Status::unauthorized, "not authorized");
    step.over =
        fmt::format("it did not prove that it is client '{}', {}", request->client,
                    authenticator_.knows(request->client)
                        ? "which has another key in the key file: both ends need the same line"
                        : "which there is not in the key file: add its line, and send SIGHUP");
    return step;
  }
  peer_.client = request->client;
  session_key_ = proved->session_key;
  return begin_joining(*answer(message, proved->reply).send);
}

/// Who it is is known. @param greeting what tells the initiator that it is in.
Step SessionProtocol::begin_joining(Outgoing greeting) {
  state_ = State::joining;
  greeting_ = std::move(greeting);
  Step step;
  step.joins = true;
  return step;
}

Step SessionProtocol::join() {
  if (state_ != State::joining) return {};
  state_ = State::ready;
  Step step;
  step.send = std::exchange(greeting_, std::nullopt);
  step.greeted = true;
  return step;
}

Step SessionProtocol::refuse_join(Status status, const std::string& reason) {
  if (state_ != State::joining) return {};
  state_ = State::over;
  const Header& header = greeting_->header;
  Step step = target::refuse(header.type, header.tag, status, reason);
  step.over = reason;
  return step;
}

Step SessionProtocol::list(const Message& message) {
  const auto request = protocol::List::decode(message.payload);
  if (!request) return malformed("LIST is malformed");
  return answer(message, view_.page(request->after));
}

std::optional<Step> SessionProtocol::refuse_attach(const Message& message,
                                                   const protocol::Attach& request,
                                                   const Offer* offer) const {
  if (state_ == State::leaving) {
    return refuse(message, Status::shutting_down, "the target is about to end");
  }
  if (offer == nullptr && view_.is_leaving(request.name)) {
    return refuse(message, Status::no_export,
                  fmt::format("export '{}' is being removed from the target", request.name));
  }
  if (offer == nullptr) {
    return refuse(
        message, Status::no_export,
        fmt::format("there is no export '{}'; those there are: {}", request.name, view_.names()));
  }
  if ((request.flags & ~protocol::Attach::kTakeOver) != 0) {
    return refuse(message, Status::not_supported,
                  fmt::format("this target knows no flags {:#x} of ATTACH", request.flags));
  }
  if (request.access == protocol::Access::read_write && !view_.may_write(*offer)) {
    return refuse(message, Status::read_only,
                  fmt::format("export '{}' is read-only{}: attach it for reading (mount -o ro)",
                              request.name, offer->read_write ? " for this client" : ""));
  }
  return std::nullopt;
}

Step SessionProtocol::attach(const Message& message) {
  const auto request = protocol::Attach::decode(message.payload);
  if (!request) return malformed("ATTACH is malformed");
  if (request->lease != 0 && (request->flags & protocol::Attach::kTakeOver) != 0) {
    return malformed("ATTACH both comes back with a lease and takes one over");
  }
  const Offer* const offer = view_.find(request->name);
  if (auto refusal = refuse_attach(message, *request, offer)) return std::move(*refusal);
  Step step = attachments_.attach(message.header.tag, *request, *offer);
  if (step.attached != nullptr) {
    std::get<protocol::AttachReply>(step.send->payload).info.read_only = !view_.may_write(*offer);
  }
  return step;
}

Step SessionProtocol::retry_attach(std::uint64_t ticket) {
  return state_ == State::ready ? attachments_.retry(ticket) : give_up_attach(ticket);
}

Step SessionProtocol::give_up_attach(std::uint64_t ticket) {
  return is_open() ? attachments_.give_up(ticket) : Step{};
}

Step SessionProtocol::go_on_attaching(std::uint64_t ticket) {
  if (state_ == State::ready) return attachments_.go_on(ticket);
  return refuse_attach(ticket, Status::shutting_down, "the target is about to end");
}

Step SessionProtocol::refuse_attach(std::uint64_t ticket, Status status,
                                    const std::string& reason) {
  return is_open() ? attachments_.refuse(ticket, status, reason) : Step{};
}

/// Which device a queue is connected over, its transport knows.
Step SessionProtocol::table(const Message& message) {
  const auto request = protocol::Table::decode(message.payload);
  if (!request) return malformed("TABLE is malformed");
  Step step;
  step.asks =
      TableQuestion{message.header.tag, request->attachment, request->number, request->queue};
  return step;
}

Step SessionProtocol::answer_table(const TableQuestion& question, ibv_context* device) {
  const auto refuse_table = [&](Status status, std::string reason) {
    return target::refuse(MessageType::table, question.tag, status, std::move(reason));
  };
  const Attachment* const attachment = attachments_.find(question.attachment);
  if (attachment == nullptr) {
    return refuse_table(Status::no_attachment,
                        fmt::format("this session has no attachment {:#x}", question.attachment));
  }
  if (attachment->reply().info.kind == protocol::ExportKind::file) {
    return refuse_table(Status::not_supported,
                        fmt::format("export '{}' is served through the target's processor, and has "
                                    "no chunk table",
                                    attachment->reply().info.name));
  }
  if (device == nullptr) {
    return refuse_table(
        Status::no_attachment,
        fmt::format("I/O queue {} of that attachment is not connected", question.queue));
  }
  const auto table = attachment->table(question.number, device);
  if (!table) {
    return refuse_table(Status::stale, fmt::format("chunk table {} of export '{}' is gone",
                                                   question.number, attachment->reply().info.name));
  }
  return target::answer(MessageType::table, question.tag, protocol::TableReply{*table});
}

Step SessionProtocol::detach(const Message& message) {
  const auto request = protocol::Detach::decode(message.payload);
  if (!request) return malformed("DETACH is malformed");
  if (!attachments_.end(request->attachment)) {
    return refuse(message, Status::no_attachment,
                  fmt::format("this session has no attachment {:#x}", request->attachment));
  }
  Step step = answer(message, protocol::Empty{});
  step.detached = request->attachment;
  return step;
}

Step SessionProtocol::keepalive(const Message& message) {
  Step step = answer(message, protocol::Empty{});
  if (message.payload.empty() || !peer_.features.has(protocol::Feature::counters)) return step;
  const auto report = protocol::UseReport::decode(message.payload);
  if (!report) return malformed("KEEPALIVE is malformed");
  step.uses = attachments_.take(*report);
  return step;
}

Attachments::Ending SessionProtocol::end_export(std::string_view name, const std::string& reason) {
  const auto is_of_it = [name](const Offer& offer, protocol::Access /*access*/) {
    return offer.info.name == name;
  };
  return attachments_.end_all(is_of_it, Status::no_export, reason);
}

Attachments::Ending SessionProtocol::end_disallowed(std::string_view name,
                                                    const std::string& reason) {
  const auto is_disallowed = [this, name](const Offer& offer, protocol::Access access) {
    return offer.info.name == name && !view_.allows(offer, access, peer_.address);
  };
  return attachments_.end_all(is_disallowed, Status::unauthorized, reason);
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
  const auto event = message.header.type == MessageType::event
                         ? events_.acknowledge(message.header.tag)
                         : std::nullopt;
  if (!event) return malformed("a reply to no request came");
  Step step;
  step.acknowledged = event->attachment == 0;
  if (Attachment* const attachment = attachments_.find(event->attachment)) {
    attachment->edition()->acknowledge();
  }
  if (!step.acknowledged) step.send = next_event();
  return step;
}

/// What an initiator is told is worked out when it is sent: it is the last.
std::optional<Outgoing> SessionProtocol::next_event() {
  while (const auto event = events_.next()) {
    protocol::EventNotice notice;
    notice.kind = protocol::EventKind::shutting_down;
    if (event->attachment != 0) {
      Attachment* const attachment = attachments_.find(event->attachment);
      const auto resized = attachment == nullptr ? std::nullopt : attachment->announce();
      if (!resized) {
        events_.skip();
        continue;
      }
      notice = *resized;
    }
    return Outgoing{Header{MessageType::event, false, Status::ok, event->tag}, notice};
  }
  return std::nullopt;
}

std::optional<Outgoing> SessionProtocol::announce_size(std::string_view name) {
  if (!is_open() || !takes_sizes()) return std::nullopt;
  for (const std::uint64_t attachment : attachments_.of_export(name)) events_.add(attachment);
  return next_event();
}

Step SessionProtocol::malformed(const std::string& reason) {
  return end(Status::malformed, reason);
}

/// Ends the session with an ERROR.
Step SessionProtocol::end(Status status, const std::string& reason) {
  Step step;
  step.send = abandon(status, reason);
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
  events_.add(0);
  return next_event();
}

std::variant<const Attachment*, protocol::QueueRefusal> SessionProtocol::admit(
    const protocol::QueueRequest& request, std::string_view from) {
  using protocol::QueueRefusal;
  if (state_ == State::leaving) {
    return QueueRefusal{Status::shutting_down, "the target is about to end"};
  }
  if (state_ != State::ready) return refuse_unproved();
  const auto admission = attachments_.admit(request);
  const auto* const admitted = std::get_if<const Attachment*>(&admission);
  if (admitted == nullptr) return admission;
  const Attachment& attachment = **admitted;
  if (view_.allows(attachment.offer(), attachment.reply().access, from)) return admission;
  return QueueRefusal{Status::unauthorized, "the export is not for this address"};
}

}  // namespace rdmablk::target
