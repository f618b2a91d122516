#include "target/queue_table.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "common/cm/peer_gone.h"
#include "common/counted.h"
#include "common/error.h"
#include "target/fencing.h"
#include "target/file_queue.h"
#include "target/one_sided_queue.h"
#include "target/registrar.h"
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
    if (!is_registered_with(attachment, connection->device())) {
      found->second.next.emplace(Successor{std::move(connection), &attachment});
      register_for(key, found->second);
      return std::nullopt;
    }
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

/// What an attachment is entitled to on the device that a connection came over.
QueueGround QueueTable::ground_for(const cm::Connection& connection,
                                   const Attachment& attachment) const {
  auto device = environment_.registrar.find_device(connection.device());
  const Offer* const offer =
      device == nullptr ? nullptr : device->catalog().find_for_users(attachment.reply().info.name);
  if (offer == nullptr || !offer->is_registered) {
    throw Error("its device was removed while it was being connected");
  }
  return {std::move(device), offer->grant(attachment.reply().access)};
}

bool QueueTable::is_registered_with(const Attachment& attachment, const ibv_context* device) const {
  const auto found = environment_.registrar.find_device(device);
  const Offer* const offer =
      found == nullptr ? nullptr : found->catalog().find_for_users(attachment.reply().info.name);
  return offer == nullptr || offer->is_registered;
}

/// Has the export registered with the device that the next connection of a place came over.
void QueueTable::register_for(const Key& key, Place& place) {
  place.registering = true;
  start_deadline(key, place);
  environment_.registrar.want(
      place.next->attachment->reply().info.name, place.next->connection->device(),
      place.lifetime.guard([this, key](const auto& failure) { on_registered(Key(key), failure); }));
}

void QueueTable::on_registered(const Key& key, const std::optional<std::string>& failure) {
  Place& place = places_.at(key);
  place.registering = false;
  if (failure) {
    log(spdlog::level::err,
        fmt::format("session {}: I/O queue {}: {}", session_, key.second, *failure));
    refuse(place, {Status::internal, *failure});
  }
  open_next(key, place);
}

std::unique_ptr<IoQueue> QueueTable::make(std::unique_ptr<cm::Connection>& connection,
                                          const Attachment& attachment, std::uint16_t number) {
  IoQueueOwner& owner = *this;
  QueueGround ground = ground_for(*connection, attachment);
  if (!attachment.use()) {
    return std::make_unique<OneSidedQueue>(connection, attachment, number, std::move(ground),
                                           environment_.counters, owner);
  }
  const ServedQueueContext context{environment_.io, environment_.counters,
                                   environment_.io_threads.next(),
                                   environment_.io_threads.blocking()};
  if (attachment.use()->resident() != nullptr) {
    return std::make_unique<ResidentQueue>(connection, attachment, number, std::move(ground),
                                           context, owner);
  }
  return std::make_unique<FileQueue>(connection, attachment, number, std::move(ground), context,
                                     owner);
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
  place.closing = true;
  auto closed = lifetime_.guard([this, key = Key(key)] { on_closed(key); });
  if (fencing().drains_files) return environment_.drain.add(std::move(place.queue), closed);
  environment_.drain.add(std::move(place.queue));
  closed();
}

void QueueTable::on_closed(const Key& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return;
  found->second.closing = false;
  open_next(key, found->second);
}

/// Opens the connection that waits, if nothing is left to wait for; without one the place ends.
void QueueTable::open_next(const Key& key, Place& place) {
  if (place.closing || place.registering) return;
  if (!place.next) {
    places_.erase(key);
    return;
  }
  if (!is_registered_with(*place.next->attachment, place.next->connection->device())) {
    return register_for(key, place);
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
    refuse(place, {Status::busy, place.registering
                                     ? "the export is still being registered with this device"
                                     : "what the last connection began is not through yet"});
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

ibv_context* QueueTable::device_of(std::uint64_t attachment, std::uint16_t queue) const noexcept {
  const auto found = places_.find({attachment, queue});
  if (found == places_.end() || found->second.queue == nullptr) return nullptr;
  return found->second.queue->device();
}

std::size_t QueueTable::end_device(const ibv_context* device, const std::string& reason) {
  std::size_t ended = 0;
  for (auto next = places_.begin(); next != places_.end();) {
    const auto entry = next++;  // closing may end the place
    Place& place = entry->second;
    if (place.next && place.next->connection->device() == device) place.next.reset();
    if (!place.queue || place.queue->device() != device) continue;
    ++ended;
    on_queue_over(*place.queue, reason);
  }
  return ended;
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
