#include "tests/integration/cm/cm_world.h"

#include <algorithm>
#include <chrono>

#include "common/error.h"

namespace rdmablk::testing {
namespace {

/// Far longer than anything takes: a test that waits so long has failed.
constexpr std::chrono::seconds kPatience{30};

/// Soft-iWARP's library in rdma-core 44 takes one address for a failure that it gives out as well:
/// that of page 144 of all queues of a process, where then none must begin. With two pages for the
/// sends, two for the receives and three for the completion queue none does. Those are 64 each, of
/// which the connecting end takes some itself (cm::Nudge).
constexpr verbs::QueuePairOptions kQueueSizes{.send_requests = 60, .receive_requests = 64};

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<std::byte> some_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i + 1);
  return bytes;
}

Peer::Peer(std::unique_ptr<cm::Connection> connection, std::vector<std::byte> data)
    : private_data(std::move(data)) {
  end.connection = std::move(connection);
}

Peer::Peer(cm::ConnectionManager& manager, const SocketAddress& to, std::vector<std::byte> data)
    : private_data(std::move(data)) {
  end.connection = manager.open(to, *this);
}

void Peer::create_queue_pair() {
  end.prepare(end.connection->device());
  end.connection->create_queue_pair(*end.pd, *end.cq, kQueueSizes);
}

void Peer::accept() {
  create_queue_pair();
  end.connection->accept(*this);
}

long Peer::count(cm::EventType type) const {
  return std::ranges::count(seen, type, &Seen::type);
}

void Peer::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  seen.push_back(
      {event.type, event.error, event.refusal, copy_of(event.data), std::string(event.why)});
  if (event.type != cm::EventType::resolved) return;
  create_queue_pair();
  end.connection->connect(private_data);
}

CmWorld::CmWorld(cm::Method method)
    : manager_(cm::make_manager(method, io_)), listener_(manager_->listen(test_address(), *this)) {}

void CmWorld::on_request(std::unique_ptr<cm::Connection> connection,
                         std::span<const std::byte> private_data) {
  requests_.push_back(std::make_unique<Peer>(std::move(connection), copy_of(private_data)));
  if (on_request_do_) on_request_do_(*requests_.back());
}

Peer& CmWorld::connect(std::vector<std::byte> private_data) {
  return *connecting_.emplace_back(
      std::make_unique<Peer>(*manager_, address(), std::move(private_data)));
}

CmWorld::Pair CmWorld::connect_pair(std::vector<std::byte> private_data) {
  on_request_do([](Peer& peer) { peer.accept(); });
  const std::size_t before = requests_.size();
  Peer& connecting = connect(std::move(private_data));
  run_until([&] { return connecting.is_established() && requests_.size() > before; });
  return {connecting, *requests_.back()};
}

void CmWorld::run_until(const std::function<bool()>& done) {
  io_.restart();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (io_.run_one_until(end) == 0) throw Error("what was waited for did not happen");
  }
}

}  // namespace rdmablk::testing
