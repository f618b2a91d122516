#include "target/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "common/log.h"
#include "common/seconds.h"
#include "common/verbs/context.h"
#include "target/registrar.h"

namespace rdmablk::target {

using protocol::Status;

namespace {

/// As how many messages an ATTACH counts: one for writing waits for a disk, and all wait with it.
constexpr unsigned kAttachCost = 20;

}  // namespace

Session::Session(std::uint32_t id, std::unique_ptr<cm::Connection>& connection,
                 std::shared_ptr<const TargetDevice> device, const SessionEnvironment& environment,
                 SessionOwner& owner)
    : id_(id),
      device_(std::move(device)),
      environment_(environment),
      owner_(owner),
      peer_(connection->peer()),
      protocol_(id, environment.target, device_->catalog(), environment.limits, peer_,
                &environment.budgets, environment.keys),
      waits_(
          environment.io,
          [this](std::uint64_t ticket) { answer_attach(ticket, &SessionProtocol::retry_attach); },
          [this](std::uint64_t ticket) {
            answer_attach(ticket, &SessionProtocol::give_up_attach);
          }),
      rate_(environment.limits.admin_rate),
      channel_(device_->messages()),
      deadline_(environment.io),
      silence_(
          environment.io, environment.limits, [this] { return listen(); },
          [this] { on_silence(); }),
      breather_(environment.io),
      queues_(id, protocol_, environment, *this) {
  auto& qp = connection->create_queue_pair(device_->messages(), channel_.completion_queue(),
                                           protocol::MessageChannel::queue_pair_options());
  channel_.start(qp);
  connection_ = std::move(connection);
}

Session::~Session() {
  end_attachments();
  connection_->disconnect();
}

void Session::accept() {
  watch_.emplace(environment_.io, channel_.fd(), [this] { poll(); });
  connection_->accept(*this);
  const auto time = environment_.limits.handshake;
  start_deadline(time, fmt::format("it did not say who it is within {:g} s", in_seconds(time)));
}

void Session::poll() {
  if (!over_) channel_.poll(*this);
}

/// A peer that says more than it may is not listened to for a while. Nothing is lost: it waits for
/// its credits.
bool Session::takes_more() {
  if (rate_.has_room()) return true;
  if (std::exchange(breathing_, true)) return false;
  breather_.expires_after(rate_.wait());
  breather_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    breathing_ = false;
    if (!error) poll();
  }));
  return false;
}

void Session::start_deadline(std::chrono::milliseconds time, std::string reason) {
  deadline_.expires_after(time);
  deadline_.async_wait(
      lifetime_.guard([this, reason = std::move(reason)](const asio::error_code& error) {
        // One that was replaced or cancelled when it had expired already is told by the clock.
        if (!error && deadline_.expiry() <= std::chrono::steady_clock::now()) on_deadline(reason);
      }));
}

void Session::on_deadline(const std::string& reason) {
  if (over_) return;
  if (last_word_) return finish(reason);
  // It may have said enough, and waits for the session before it.
  end_with(Status::limit, protocol_.is_known()
                              ? "what is left of the session before has not ended in time"
                              : reason);
}

void Session::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  if (over_) return;
  switch (event.type) {
    case cm::EventType::disconnected:
      // What the initiator said last may say why.
      gone_ = true;
      channel_.poll(*this);
      return finish("the initiator disconnected");
    case cm::EventType::failed:
    case cm::EventType::rejected:
      return finish("the connection was not completed");
    case cm::EventType::device_removed:
      return finish("its device was removed");
    case cm::EventType::resolved:
    case cm::EventType::established:
      return;
  }
}

void Session::on_message(const protocol::Message& message) {
  rate_.take(message.header.type == protocol::MessageType::attach ? kAttachCost : 1);
  silence_.heard();
  if (over_ || last_word_) return;
  ++environment_.counters.messages;
  attempt([&] { return protocol_.handle(message); });
}

/// Takes a step of the conversation, and does what it says.
void Session::attempt(const std::function<Step()>& step) {
  try {
    perform(step());
  } catch (const std::exception& error) {
    log(spdlog::level::err, error.what());
    end_with(Status::internal, "the target failed; its log says how");
  }
}

bool Session::on_malformed() {
  rate_.take();
  if (!over_ && !last_word_) end_with(Status::malformed, "a message came that is no message");
  return true;
}

void Session::on_broken(const std::string& reason) {
  // The flushed receives of a queue pair that has been disconnected say nothing.
  finish(gone_ ? "the initiator disconnected" : reason);
}

void Session::perform(const Step& step) {
  if (step.detached) return detach(*step.detached, step.send);
  if (step.joins) return owner_.on_session_joins(*this);
  if (step.asks) return answer_table(*step.asks);
  if (step.registers) wait_for_registration(*step.registers);
  if (step.waits) wait_for_lease(*step.waits);
  if (step.fences) owner_.fence(*step.fences, peer().text());
  if (step.greeted) greet();
  if (environment_.reports != nullptr) {
    for (const ReportedUse& one : step.uses) {
      environment_.reports->add(one.export_name, peer().client, one.use);
    }
  }
  if (step.attached != nullptr) {
    const auto& reply = step.attached->reply();
    ++environment_.counters.attachments;
    log(spdlog::level::info,
        fmt::format("attached '{}' {}, queues={} depth={}", reply.info.name,
                    reply.access == protocol::Access::read_write ? "read-write" : "read-only",
                    reply.queues, reply.depth),
        reply.info.name);
  }
  if (step.send && !send(*step.send)) return;
  if (step.acknowledged) return finish("the target ends");
  if (step.over) step.send ? linger(*step.over) : finish(*step.over);
}

void Session::greet() {
  greeted_ = true;
  deadline_.cancel();
  ++environment_.counters.sessions;
  log(spdlog::level::info, fmt::format("{} connected over {}", peer().text(), device_->name()));
  silence_.start();
}

void Session::admit() {
  if (!over_ && !last_word_) attempt([&] { return protocol_.join(); });
}

void Session::turn_away(Status status, const std::string& reason) {
  if (!over_ && !last_word_) attempt([&] { return protocol_.refuse_join(status, reason); });
}

/// @return whether there is still anybody to listen to.
bool Session::listen() {
  if (!over_ && !last_word_) poll();
  return !over_ && !last_word_;
}

void Session::on_silence() {
  ++environment_.counters.evictions;
  end_with(Status::limit, fmt::format("evicted: nothing was heard of it for {:g} s",
                                      in_seconds(environment_.limits.silence())));
}

void Session::wait_for_lease(const LeaseWait& wait) {
  const Limits& limits = environment_.limits;
  auto time = wait.takes_over ? limits.fence_wait : limits.lease_wait;
  // The initiator takes a target for lost that leaves a request unanswered for three keepalives.
  if (limits.keepalive.count() > 0) time = std::min(time, 2 * limits.keepalive);
  waits_.add(wait, time);
}

/// One that takes too long is asked for again: it goes on.
void Session::wait_for_registration(const RegistrationWait& wait) {
  const std::uint64_t ticket = wait.ticket;
  const auto decide = [this, ticket](const std::function<Step()>& step) {
    if (registrations_.erase(ticket) > 0 && !over_ && !last_word_) attempt(step);
  };
  environment_.registrar.want(
      wait.export_name, device_->context(),
      lifetime_.guard([this, ticket, decide](const std::optional<std::string>& failure) {
        decide([&] {
          return failure ? protocol_.refuse_attach(ticket, Status::internal, *failure)
                         : protocol_.go_on_attaching(ticket);
        });
      }));
  auto& timer = registrations_.try_emplace(ticket, environment_.io).first->second;
  const auto keepalive = environment_.limits.keepalive;
  if (keepalive.count() == 0) return;
  timer.expires_after(2 * keepalive);
  timer.async_wait(lifetime_.guard(
      [this, ticket, decide, name = wait.export_name](const asio::error_code& error) {
        if (error) return;
        decide([&] {
          return protocol_.refuse_attach(
              ticket, Status::busy,
              fmt::format("export '{}' is still being registered with {}; try again", name,
                          device_->name()));
        });
      }));
}

void Session::answer_table(const TableQuestion& question) {
  attempt([&] {
    return protocol_.answer_table(question, queues_.device_of(question.attachment, question.queue));
  });
}

/// Tries again to answer an ATTACH that waits, or gives it up.
void Session::answer_attach(std::uint64_t ticket, Step (SessionProtocol::*decide)(std::uint64_t)) {
  if (over_ || last_word_) return;
  attempt([&] {
    Step step = (protocol_.*decide)(ticket);
    if (step.send) waits_.remove(ticket);
    return step;
  });
}

bool Session::send(const Outgoing& message) {
  if (channel_.send(message.header, message)) return true;
  finish("the initiator does not take its messages");
  return false;
}

void Session::end_with(Status status, const std::string& reason) {
  if (send(protocol_.abandon(status, reason))) linger(reason);
}

void Session::linger(const std::string& reason) {
  // Disconnecting at once would throw away what is still on its way.
  last_word_ = reason;
  owner_.on_session_leaves(*this);
  end_attachments();
  start_deadline(environment_.limits.last_word, reason);
}

void Session::finish(const std::string& reason) {
  if (over_) return;
  over_ = true;
  log_end(last_word_.value_or(reason));
  end_attachments();
  deadline_.cancel();
  silence_.stop();
  breather_.cancel();
  connection_->disconnect();
  owner_.on_session_over(*this);
}

void Session::log(spdlog::level::level_enum level, const std::string& what,
                  std::string_view export_name) {
  environment_.log.note(peer().account(), level, fmt::format("session {}: {}", id_, what),
                        ClientLog::Clock::now(), export_name);
}

/// Those that never got in are not worth a line each.
void Session::log_end(const std::string& reason) {
  const std::string what = fmt::format("{} ended: {}", peer().text(), reason);
  if (greeted_) return log(spdlog::level::info, what);
  const auto text = environment_.strangers.note(fmt::format("session {}: {}", id_, what));
  if (text) spdlog::warn("{}", *text);
}

void Session::expel(Status status, const std::string& reason) {
  if (over_ || last_word_) return;
  ++environment_.counters.evictions;
  end_with(status, reason);
}

void Session::say_goodbye() {
  if (over_) return;
  if (!protocol_.is_ready()) return finish("the target ends");
  if (const auto notice = protocol_.say_goodbye()) send(*notice);
}

void Session::announce_size(const std::string& name) {
  if (over_ || last_word_) return;
  if (const auto notice = protocol_.announce_size(name)) send(*notice);
}

std::size_t Session::count_larger(const std::string& name, std::uint64_t size) const {
  const auto& all = protocol_.attachments();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const auto& entry) {
    const Attachment& attachment = entry.second;
    return attachment.reply().info.name == name && attachment.edition() &&
           attachment.edition()->known_size() > size;
  }));
}

void Session::count(Counts& counts) const {
  counts.attachments += protocol_.attachments().size();
  counts.io_queues += queues_.connected();
  counts.footprint += {1, 1, 0, protocol::MessageChannel::kRegisteredBytes};
  counts.footprint += queues_.footprint();
}

SessionStatus Session::status() const {
  const auto now = std::chrono::steady_clock::now();
  SessionStatus status;
  status.id = id_;
  status.address = peer().address;
  status.client = peer().client;
  status.device = device_->name();
  status.age = std::chrono::duration_cast<std::chrono::seconds>(now - since_);
  status.silence =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - silence_.last_heard());
  for (const auto& [id, attachment] : protocol_.attachments()) {
    const auto& reply = attachment.reply();
    status.attachments.push_back(
        {reply.info.name, reply.access, queues_.connected(id), attachment.reported()});
  }
  return status;
}

std::optional<protocol::QueueRefusal> Session::connect_queue(
    std::unique_ptr<cm::Connection>& connection, const protocol::QueueRequest& request) {
  if (over_ || last_word_) return refuse_unproved();
  if (connection->device() != device_->context() && !protocol_.takes_paths()) {
    return protocol::QueueRefusal{
        Status::not_supported,
        fmt::format("the session came over {}, its I/O queues have to, too", device_->name())};
  }
  if (environment_.registrar.find_device(connection->device()) == nullptr) {
    return protocol::QueueRefusal{Status::not_supported, "the target does not use this device"};
  }
  return queues_.connect(connection, request);
}

void Session::on_violation(const std::string& reason) {
  if (!over_ && !last_word_) end_with(Status::malformed, reason);
}

/// Closes the I/O queues of an attachment, and says so when what they had begun has ended.
void Session::detach(std::uint64_t attachment, const std::optional<Outgoing>& reply) {
  queues_.end(attachment);
  environment_.drain.when_gone({attachment, attachment}, lifetime_.guard([this, reply] {
    if (!over_ && !last_word_ && reply) send(*reply);
  }));
}

void Session::end_attachment(std::uint64_t attachment, const std::string& taker) {
  if (!protocol_.end_attachment(attachment, taken_over_by(taker))) return;
  ++environment_.counters.take_overs;
  log(spdlog::level::info, fmt::format("attachment {:#x} of {} ended: {} takes its lease over",
                                       attachment, peer().text(), taker));
  queues_.end(attachment);
}

void Session::end_export(const std::string& name) {
  const auto reason = fmt::format("export '{}' was removed from the target", name);
  end_those(protocol_.end_export(name, reason), reason);
}

void Session::end_disallowed(const std::string& name) {
  const auto reason = fmt::format("export '{}' is not for this client any more", name);
  end_those(protocol_.end_disallowed(name, reason), reason);
}

void Session::end_those(const Attachments::Ending& ending, const std::string& reason) {
  for (const std::uint64_t attachment : ending.attachments) {
    log(spdlog::level::info,
        fmt::format("attachment {:#x} of {} ended: {}", attachment, peer().text(), reason));
    queues_.end(attachment);
  }
  for (const auto& [ticket, step] : ending.answers) {
    waits_.remove(ticket);
    if (!over_ && !last_word_) send(*step.send);
  }
}

std::size_t Session::end_device(const ibv_context* device, const std::string& reason) {
  const std::size_t queues = queues_.end_device(device, reason);
  if (device_->context() == device) finish(reason);
  return queues;
}

void Session::end_attachments() {
  waits_.clear();
  registrations_.clear();
  queues_.end_all();
  protocol_.end_attachments();
}

}  // namespace rdmablk::target
