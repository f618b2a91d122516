#include "target/served_queue.h"

#include <spdlog/spdlog.h>

#include <asio/post.hpp>
#include <cerrno>
#include <utility>

namespace rdmablk::target {

using protocol::MessageType;
using protocol::Status;

namespace {

metrics::IoKind kind_of(MessageType type, bool discards) {
  switch (type) {
    case MessageType::read:
      return metrics::IoKind::read;
    case MessageType::write:
      return metrics::IoKind::write;
    case MessageType::flush:
      return metrics::IoKind::flush;
    case MessageType::zero:
      return discards ? metrics::IoKind::discard : metrics::IoKind::zero;
    default:
      return metrics::IoKind::map;
  }
}

}  // namespace

ServedQueue::ServedQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
                         std::uint16_t number, unsigned commands, QueueGround ground,
                         const ServedQueueContext& context, IoQueueOwner& owner)
    : IoQueue(attachment, number, std::move(ground), owner),
      context_(context),
      use_(attachment.use()),
      own_pd_(grant().pd == nullptr
                  ? std::optional<verbs::ProtectionDomain>(std::in_place, connection->device())
                  : std::nullopt),
      pd_(own_pd_ ? *own_pd_ : *grant().pd),
      channel_(pd_, commands),
      counters_(use_->store().counters().of(context.thread)),
      begun_(commands) {
  channel_.start(connection->create_queue_pair(pd_, channel_.completion_queue(),
                                               channel_.queue_pair_options()));
  connection_ = std::move(connection);
}

ServedQueue::~ServedQueue() = default;

/// Its messages are one memory region.
Footprint ServedQueue::footprint() const noexcept {
  return {1, 1, own_pd_ ? 1U : 0U, use_->layout().message_bytes()};
}

void ServedQueue::accept() {
  // Requests may arrive before accept() has returned.
  accepted_ = true;
  context_.thread.post(start_);
  connection_->accept(*this);
  ++context_.counters.io_queues;
}

void ServedQueue::begin_close() {
  connection_->disconnect();
  if (!accepted_) return closed();
  context_.thread.post(stop_);
}

void ServedQueue::start() noexcept {
  prepare();
  try {
    context_.thread.ring().watch(channel_.fd(), *this);
  } catch (const std::exception& error) {
    on_broken(error.what());
  }
}

void ServedQueue::stop() noexcept {
  stopping_ = true;
  abandon();
  context_.thread.ring().unwatch(*this);
  if (busy_ == 0) context_.thread.post(finish_);
}

/// The last thing that the I/O thread does for the queue.
void ServedQueue::finish() noexcept {
  if (posts_) return context_.thread.post(finish_);  // the thread still has that to do
  clean_up();
  asio::post(context_.io, [this] { closed(); });
}

void ServedQueue::on_readable() noexcept {
  channel_.poll(*this);
  if (channel_.has_unsent()) post_later();
}

void ServedQueue::on_command(unsigned slot, const protocol::Message& message) noexcept {
  if (const char* const violation = take(slot, message)) on_violation(violation);
}

/// @return which rule it breaks; null for none.
const char* ServedQueue::take(unsigned slot, const protocol::Message& message) noexcept {
  const MessageType type = message.header.type;
  if (type == MessageType::queue) {
    if (opened_ || !message.payload.empty()) return "QUEUE may come only once";
    open(slot);
    return nullptr;
  }
  if (!opened_) return "QUEUE must come first on an I/O queue";
  if (type < MessageType::read || type > MessageType::map) {
    return "a request came on an I/O queue that does not belong there";
  }
  const auto command =
      protocol::IoCommand::decode(type, message.payload, use_->store().file().size());
  if (!command) return "a request is malformed, or leaves the export";
  ++busy_;
  note(slot, type, command->request());
  const bool writes = type == MessageType::write || type == MessageType::zero;
  if (writes && use_->writer() == nullptr) {
    end(slot, EROFS);
    return nullptr;
  }
  const char* const violation = begin(slot, type, *command);
  if (violation != nullptr) {
    --busy_;
    counters_.end(begun_[slot].kind, 0, EPERM, {});
  }
  return violation;
}

/// A request has come.
void ServedQueue::note(unsigned slot, MessageType type,
                       const protocol::IoRequest& request) noexcept {
  const bool discards = (request.flags & protocol::IoRequest::kDiscard) != 0;
  begun_[slot] = {kind_of(type, discards), request.length, context_.thread.now()};
  counters_.begin(begun_[slot].kind);
}

void ServedQueue::open(unsigned slot) noexcept {
  opened_ = true;
  protocol::WireWriter writer(channel_.reply_payload(slot));
  describe().encode(writer);
  reply(slot, Status::ok, writer.size());
}

/// Answers at the end of the thread's turn, together with what else has ended by then.
void ServedQueue::reply(unsigned slot, Status status, std::size_t payload_size) noexcept {
  channel_.reply(slot, status, payload_size);
  post_later();
}

void ServedQueue::post_later() noexcept {
  if (std::exchange(posts_, true)) return;
  context_.thread.defer(post_);
}

void ServedQueue::post_replies() noexcept {
  posts_ = false;
  channel_.post(*this);
}

void ServedQueue::end(unsigned slot, int error, std::size_t payload_size) noexcept {
  --busy_;
  const Begun& begun = begun_[slot];
  counters_.end(begun.kind, begun.length, error, context_.thread.now() - begun.at);
  if (!stopping_) {
    return reply(slot, protocol::status_of_errno(error), error == 0 ? payload_size : 0);
  }
  if (busy_ == 0) context_.thread.post(finish_);
}

void ServedQueue::on_violation(const char* reason) noexcept {
  channel_.end();
  asio::post(context_.io, [this, reason] { tell_violation(reason); });
}

void ServedQueue::on_broken(const std::string& reason) noexcept {
  asio::post(context_.io, [this, reason] { tell_over(reason); });
}

}  // namespace rdmablk::target
