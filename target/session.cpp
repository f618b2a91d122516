#include "target/session.h"

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

#include "common/log.h"
#include "common/verbs/context.h"
#include "target/file_queue.h"
#include "target/one_sided_queue.h"
#include "target/resident_queue.h"

namespace rdmablk::target {

using protocol::Status;

Session::Session(std::uint32_t id, std::unique_ptr<cm::Connection>& connection,
                 const TargetDevice& device, const SessionEnvironment& environment)
    : id_(id),
      device_(device),
      environment_(environment),
      peer_(connection->peer()),
      protocol_(id, environment.target, device.catalog(), environment.limits),
      channel_(device.messages()),
      deadline_(environment.io) {
  auto& qp = connection->create_queue_pair(device.messages(), channel_.completion_queue(),
                                           protocol::MessageChannel::queue_pair_options());
  channel_.start(qp);
  connection_ = std::move(connection);
}

Session::~Session() {
  close_queues();
  connection_->disconnect();
}

void Session::accept() {
  watch_.emplace(environment_.io, channel_.fd(), [this] {
    if (!over_) channel_.poll(*this);
  });
  connection_->accept(*this);
  const auto time = environment_.limits.handshake;
  start_deadline(time, fmt::format("no HELLO came within {:g} s",
                                   std::chrono::duration<double>(time).count()));
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
  end_with(Status::limit, reason);
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
  if (over_ || last_word_) return;
  ++environment_.counters.messages;
  try {
    perform(protocol_.handle(message));
  } catch (const std::exception& error) {
    spdlog::error("session {}: {}", id_, error.what());
    end_with(Status::internal, "the target failed; its log says how");
  }
}

bool Session::on_malformed() {
  if (!over_ && !last_word_) end_with(Status::malformed, "a message came that is no message");
  return true;
}

void Session::on_broken(const std::string& reason) {
  // The flushed receives of a queue pair that has been disconnected say nothing.
  finish(gone_ ? "the initiator disconnected" : reason);
}

void Session::perform(const Step& step) {
  if (step.detached) return detach(*step.detached, step.send);
  if (step.greeted) {
    deadline_.cancel();
    ++environment_.counters.sessions;
    spdlog::info("session {}: {} connected over {}", id_, peer_, device_.name());
  }
  if (step.attached != nullptr) {
    const auto& reply = step.attached->reply();
    ++environment_.counters.attachments;
    spdlog::info("session {}: attached '{}' {}, queues={} depth={}", id_, reply.info.name,
                 reply.access == protocol::Access::read_write ? "read-write" : "read-only",
                 reply.queues, reply.depth);
  }
  if (step.send && !send(*step.send)) return;
  if (step.acknowledged) return finish("the target ends");
  if (step.over) step.send ? linger(*step.over) : finish(*step.over);
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
  close_queues();
  start_deadline(environment_.limits.last_word, reason);
}

void Session::finish(const std::string& reason) {
  if (over_) return;
  over_ = true;
  spdlog::info("session {}: {} ended: {}", id_, peer_, last_word_.value_or(reason));
  close_queues();
  deadline_.cancel();
  connection_->disconnect();
  environment_.owner.on_session_over(*this);
}

void Session::say_goodbye() {
  if (over_) return;
  const auto notice = protocol_.say_goodbye();
  if (!notice) return finish("the target ends");
  send(*notice);
}

std::optional<protocol::QueueRefusal> Session::connect_queue(
    std::unique_ptr<cm::Connection>& connection, const protocol::QueueRequest& request) {
  if (over_ || last_word_) {
    return protocol::QueueRefusal{Status::no_attachment, "the session has ended"};
  }
  if (connection->device() != device_.context()) {
    return protocol::QueueRefusal{
        Status::not_supported,
        fmt::format("the session came over {}, its I/O queues have to, too", device_.name())};
  }
  const auto admission = protocol_.admit(request);
  if (const auto* refusal = std::get_if<protocol::QueueRefusal>(&admission)) return *refusal;
  if (queues_.size() >= environment_.limits.session_queues) {
    protocol_.release(request.attachment, request.queue);
    return protocol::QueueRefusal{Status::limit,
                                  fmt::format("the session has {} I/O queues", queues_.size())};
  }
  const Attachment& attachment = *std::get<const Attachment*>(admission);
  std::unique_ptr<IoQueue> queue;
  try {
    queue = make_queue(connection, attachment, request.queue);
    queue->accept();
  } catch (...) {
    const auto release = lifetime_.guard([this, key = QueueKey{request.attachment, request.queue}] {
      protocol_.release(key.first, key.second);
    });
    queue ? environment_.drain.add(std::move(queue), release) : release();
    throw;
  }
  spdlog::debug("session {}: I/O queue {} of '{}' connected from {}", id_, request.queue,
                attachment.reply().info.name, queue->peer());
  queues_.emplace(QueueKey{request.attachment, request.queue}, std::move(queue));
  return std::nullopt;
}

std::unique_ptr<IoQueue> Session::make_queue(std::unique_ptr<cm::Connection>& connection,
                                             const Attachment& attachment, std::uint16_t number) {
  IoQueueOwner& owner = *this;
  if (!attachment.use()) {
    return std::make_unique<OneSidedQueue>(connection, attachment, number, environment_.counters,
                                           owner);
  }
  const ServedQueueContext context{environment_.io, environment_.counters,
                                   environment_.io_threads->next(),
                                   environment_.io_threads->blocking()};
  if (attachment.use()->resident() != nullptr) {
    return std::make_unique<ResidentQueue>(connection, attachment, number, context, owner);
  }
  return std::make_unique<FileQueue>(connection, attachment, number, context, owner);
}

void Session::on_queue_over(IoQueue& queue, const std::string& reason) {
  const QueueKey key{queue.attachment(), queue.number()};
  spdlog::debug("session {}: I/O queue {} of attachment {:#x} ended: {}", id_, key.second,
                key.first, reason);
  // What it takes is taken until it is gone: only then may another one come in its place.
  environment_.drain.add(std::move(queues_.extract(key).mapped()), lifetime_.guard([this, key] {
    protocol_.release(key.first, key.second);
  }));
}

void Session::on_queue_violation(IoQueue& /*queue*/, const std::string& reason) {
  if (!over_ && !last_word_) end_with(Status::malformed, reason);
}

/// Closes the I/O queues of an attachment, and says so when what they had begun has ended.
void Session::detach(std::uint64_t attachment, const std::optional<Outgoing>& reply) {
  const auto first = queues_.lower_bound({attachment, 0});
  const auto last = queues_.upper_bound({attachment, UINT16_MAX});
  std::vector<std::unique_ptr<IoQueue>> closing;
  for (auto entry = first; entry != last; ++entry) closing.push_back(std::move(entry->second));
  queues_.erase(first, last);
  environment_.drain.add_all(std::move(closing), lifetime_.guard([this, reply] {
    if (!over_ && !last_word_ && reply) send(*reply);
  }));
}

void Session::close_queues() {
  for (auto& [key, queue] : std::exchange(queues_, {})) environment_.drain.add(std::move(queue));
}

}  // namespace rdmablk::target
