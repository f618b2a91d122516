#include "target/queue_table.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "common/cm/peer_gone.h"
#include "common/counted.h"
#include "target/fencing.h"
#include "target/file_queue.h"
#include "target/one_sided_queue.h"
#include "target/resident_queue.h"

namespace rdmablk::target {

using protocol::QueueRefusal;
using protocol::QueueRequest;
using protocol::Status;

QueueTable::QueueTable(std::uint32_t session, SessionProtocol& protocol,
                       const SessionEnvironment& environment, QueueTableOwner& owner)
    : session_(session), protocol_(protocol), environment_(environment), owner_(owner) {}

QueueTable::~QueueTable() {
  end_all();
}

std::optional<QueueRefusal> QueueTable::connect(std::unique_ptr<cm::Connection>& connection,
                                                const QueueRequest& request) {
  const auto admission = protocol_.admit(request, connection->peer());
  if (const auto* refusal = std::get_if<QueueRefusal>(&admission)) return *refusal;
  const Attachment& attachment = *std::get<const Attachment*>(admission);
  const Key key{request.attachment, request.queue};
  auto found = places_.find(key);
  if (found == places_.end()) {
    if (places_.size() >= environment_.limits.session_queues) {
      return QueueRefusal{Status::limit,
                          fmt::format("the session has {}", counted(places_.size(), "I/O queue"))};
    }
    auto share = environment_.queues.of(protocol_.peer().account()).take(1);
    if (!share) {
      return QueueRefusal{
          Status::limit,
          fmt::format("this client has {}, and one may have no more (--max-client-queues)",
                      counted(environment_.limits.client_queues, "I/O queue"))};
    }
    found = places_.try_emplace(key, environment_.io, std::move(share)).first;
    try {
      open(found->second, connection, attachment, request.queue);
    } catch (...) {
      if (found->second.queue) {
        close(key, found->second);
      } else {
        places_.erase(found);
      }
      throw;
    }
    return std::nullopt;
  }
  // Whatever came over the old connection is to be through before the new one is of any use.
  Place& place = found->second;
  refuse(place, {Status::stale, "a newer connection of this queue has come"});
  place.next.emplace(Successor{std::move(connection), &attachment});
  start_deadline(key, place);
  if (place.queue) close(key, place);
  return std::nullopt;
}

void QueueTable::open(Place& place, std::unique_ptr<cm::Connection>& connection,
                      const Attachment& attachment, std::uint16_t number) {
  place.queue = make(connection, attachment, number);
  place.queue->accept();
  start_deadline({attachment.id(), number}, place);
  spdlog::debug("session {}: I/O queue {} of '{}' connected from {}", session_, number,
                attachment.reply().info.name, place.queue->peer());
}

std::unique_ptr<IoQueue> QueueTable::make(std::unique_ptr<cm::Connection>& connection,
                                          const Attachment& attachment, std::uint16_t number) {
  IoQueueOwner& owner = *this;
  if (!attachment.use()) {
    return std::make_unique<OneSidedQueue>(connection, attachment, number, environment_.counters,
                                           owner);
  }
  const ServedQueueContext context{environment_.io, environment_.counters,
                                   environment_.io_threads.next(),
                                   environment_.io_threads.blocking()};
  if (attachment.use()->resident() != nullptr) {
    return std::make_unique<ResidentQueue>(connection, attachment, number, context, owner);
  }
  return std::make_unique<FileQueue>(connection, attachment, number, context, owner);
}

void QueueTable::on_queue_over(IoQueue& queue, const std::string& reason) {
  const Key key{queue.attachment(), queue.number()};
  spdlog::debug("session {}: I/O queue {} of attachment {:#x} ended: {}", session_, key.second,
                key.first, reason);
  Place& place = places_.at(key);
  place.deadline.cancel();
  close(key, place);
}

void QueueTable::on_queue_in_error(const std::string& line) {
  log(spdlog::level::warn, line);
}

void QueueTable::log(spdlog::level::level_enum level, const std::string& line) {
  environment_.log.note(protocol_.peer().account(), level, line);
}

void QueueTable::on_queue_violation(IoQueue& /*queue*/, const std::string& reason) {
  owner_.on_violation(reason);
}

/// Its place is free when it is through. May end the place from within.
void QueueTable::close(const Key& key, Place& place) {
  auto closed = lifetime_.guard([this, key = Key(key)] { on_closed(key); });
  if (fencing().drains_files) return environment_.drain.add(std::move(place.queue), closed);
  environment_.drain.add(std::move(place.queue));
  closed();
}

void QueueTable::on_closed(const Key& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return;
  Place& place = found->second;
  if (!place.next) {
    places_.erase(found);
    return;
  }
  Successor next = std::move(*place.next);
  place.next.reset();
  try {
    open(place, next.connection, *next.attachment, key.second);
  } catch (const std::exception& error) {
    const bool is_fault = dynamic_cast<const cm::PeerGone*>(&error) == nullptr;
    log(is_fault ? spdlog::level::err : spdlog::level::info,
        fmt::format("session {}: I/O queue {}: {}", session_, key.second, error.what()));
    if (next.connection) {
      next.connection->reject(
          QueueRefusal{Status::internal, "the target failed; its log says how"}.encode());
    }
    place.queue ? close(key, place) : static_cast<void>(places_.erase(key));
  }
}

void QueueTable::start_deadline(const Key& key, Place& place) {
  place.deadline.expires_after(environment_.limits.handshake);
  place.deadline.async_wait(lifetime_.guard([this, key](const asio::error_code& error) {
    if (!error) on_deadline(key);
  }));
}

void QueueTable::on_deadline(const Key& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return;
  Place& place = found->second;
  // One that was started anew when it had expired already is told by the clock.
  if (place.deadline.expiry() > std::chrono::steady_clock::now()) return;
  if (place.next) {
    refuse(place, {Status::busy, "what the last connection began is not through yet"});
  } else if (place.queue && !place.queue->is_established()) {
    on_queue_over(*place.queue, "its connection was not completed in time");
  }
}

/// Turns away the connection that waits, if one does.
void QueueTable::refuse(Place& place, const QueueRefusal& refusal) {
  if (!place.next) return;
  ++environment_.counters.refused;
  place.next->connection->reject(refusal.encode());
  place.next.reset();
}

std::size_t QueueTable::connected() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(places_.begin(), places_.end(),
                    [](const auto& entry) { return entry.second.queue != nullptr; }));
}

std::size_t QueueTable::connected(std::uint64_t attachment) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(places_.lower_bound({attachment, 0}), places_.lower_bound({attachment + 1, 0}),
                    [](const auto& entry) { return entry.second.queue != nullptr; }));
}

Footprint QueueTable::footprint() const noexcept {
  Footprint sum;
  for (const auto& [key, place] : places_) {
    if (place.queue) sum += place.queue->footprint();
  }
  return sum;
}

void QueueTable::end(std::uint64_t attachment) {
  for (auto next = places_.lower_bound({attachment, 0});
       next != places_.end() && next->first.first == attachment;) {
    const auto place = next++;  // closing may end the place
    refuse(place->second, protocol_.absence(attachment));
    if (place->second.queue) close(place->first, place->second);
  }
}

void QueueTable::end_all() {
  for (auto next = places_.begin(); next != places_.end();) {
    const auto place = next++;
    refuse(place->second, {Status::no_attachment, "the session has ended"});
    if (place->second.queue) close(place->first, place->second);
  }
}

}  // namespace rdmablk::target
