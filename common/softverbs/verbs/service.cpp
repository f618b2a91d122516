#include "common/softverbs/verbs/service.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "common/softverbs/verbs/blocked_signals.h"
#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/local_socket.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"

namespace softverbs {
namespace {

/// Who has not polled for so long is not polling.
constexpr auto kPollingPause = std::chrono::microseconds(200);
constexpr auto kNap = std::chrono::microseconds(300);

/// Calls a function for each event.
template <typename Function>
class Callback : public EventHandler {
 public:
  explicit Callback(Function function) : function_(std::move(function)) {}
  void on_events(uint32_t events) override { function_(events); }

 private:
  Function function_;
};

template <typename Function>
std::unique_ptr<EventHandler> make_handler(Function function) {
  return std::make_unique<Callback<Function>>(std::move(function));
}

}  // namespace

void Service::start() {
  if (started_.load()) return;
  std::lock_guard lock(start_mutex_);
  if (started_.load()) return;
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) throw std::system_error(errno, std::generic_category(), "creating an epoll set");
  wake_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) throw std::system_error(errno, std::generic_category(), "creating an eventfd");
  timers_ = std::make_unique<TimerQueue>();
  bind_block();
  buffer_.resize(sizeof(Message) + kMaxPayload);
  listener_handler_ = make_handler([this](uint32_t) { accept_connections(); });
  timer_handler_ = make_handler([this](uint32_t) { run_timers(); });
  watch(listener_.get(), EPOLLIN, *listener_handler_);
  watch(timers_->fd(), EPOLLIN, *timer_handler_);
  const BlockedSignals blocked;
  std::thread thread([this] { run(); });
  pthread_setname_np(thread.native_handle(), "softverbs");
  thread.detach();
  started_.store(true);
}

void Service::bind_block() {
  listener_ = make_local_socket(SOCK_NONBLOCK);
  uint32_t first = 0;
  if (getrandom(&first, sizeof first, 0) != sizeof first) first = 0;  // any will do
  for (uint32_t tried = 0; tried < kBlocks - 1; ++tried) {
    // Block 0 holds the reserved queue pair numbers 0 and 1.
    const uint32_t block = 1 + (first + tried) % (kBlocks - 1);
    const BlockAddress address(block);
    if (bind(listener_.get(), address.get(), address.length) == 0) {
      if (listen(listener_.get(), SOMAXCONN) != 0) break;
      block_ = block;
      return;
    }
    if (errno != EADDRINUSE) break;
  }
  throw std::system_error(errno, std::generic_category(), "allocating queue pair numbers");
}

void Service::watch(int fd, uint32_t events, EventHandler& handler, bool change) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = &handler;
  epoll_ctl(epoll_.get(), change ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

std::shared_ptr<Peer> Service::resolve(uint32_t qpn) {
  const uint32_t block = qpn >> kQueuePairBits;
  {
    std::lock_guard lock(peers_mutex_);
    const auto known = peers_.find(block);
    if (known != peers_.end() && known->second.peer->check_alive()) return known->second.peer;
  }
  std::shared_ptr<Peer> peer;
  try {
    peer = std::make_shared<Peer>(process_, block);
  } catch (const std::system_error&) {
    return nullptr;
  }
  std::lock_guard lock(peers_mutex_);
  const auto known = peers_.find(block);
  if (known != peers_.end()) {
    // Another thread was faster, or the old owner's death has not been handled yet.
    if (known->second.peer->check_alive()) return known->second.peer;
    dying_peers_.push_back(std::move(known->second));
    peers_.erase(known);
  }
  auto handlers = std::make_unique<PeerHandlers>();
  Peer* raw = peer.get();
  handlers->socket = make_handler([this, raw](uint32_t events) {
    if (events & EPOLLOUT) resume(*raw);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive_replies(*raw);
  });
  handlers->death = make_handler([this, raw](uint32_t) {
    receive_replies(*raw);  // Its last words count.
    bury(*raw);
  });
  peer->on_interest = [this, raw, handler = handlers->socket.get()](bool want_write) {
    watch(raw->socket(), EPOLLIN | (want_write ? EPOLLOUT : 0U), *handler, true);
  };
  watch(peer->socket(), EPOLLIN, *handlers->socket);
  if (peer->pidfd() >= 0) watch(peer->pidfd(), EPOLLIN, *handlers->death);
  peers_.emplace(block, Entry{peer, std::move(handlers)});
  return peer;
}

void Service::accept_connections() {
  for (;;) {
    FileDescriptor fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd) return;
    auto connection = std::make_unique<Connection>(process_, *this, std::move(fd));
    watch(connection->fd(), EPOLLIN, *connection);
    connections_.emplace(connection.get(), std::move(connection));
  }
}

void Service::close_connection(Connection& connection) {
  const auto entry = connections_.find(&connection);
  if (entry == connections_.end()) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, connection.fd(), nullptr);
  closed_connections_.push_back(std::move(entry->second));
  connections_.erase(entry);
}

void Service::run_timers() {
  for (const uint32_t qpn : timers_->take_due()) {
    const auto lock = process_.queue_pairs().lock();
    if (QueuePair* queue_pair = process_.queue_pairs().find(qpn)) queue_pair->on_timer();
  }
}

void Service::bury(Peer& peer) {
  peer.mark_dead();
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.socket(), nullptr);
  if (peer.pidfd() >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.pidfd(), nullptr);
  forget(peer);
  {
    const auto lock = process_.queue_pairs().lock();
    process_.queue_pairs().for_each([&](QueuePair& each) { each.on_peer_death(peer); });
  }
  // Whoever was copying is through, and the next one sees that the peer is dead.
  process_.late_writes().lose(peer);
  peer.windows().close_all();
}

void Service::forget(const Peer& peer) {
  std::lock_guard lock(peers_mutex_);
  for (auto entry = peers_.begin(); entry != peers_.end(); ++entry) {
    if (entry->second.peer.get() != &peer) continue;
    buried_peers_.push_back(std::move(entry->second));
    peers_.erase(entry);
    return;
  }
  for (auto entry = dying_peers_.begin(); entry != dying_peers_.end(); ++entry) {
    if (entry->peer.get() != &peer) continue;
    buried_peers_.push_back(std::move(*entry));
    dying_peers_.erase(entry);
    return;
  }
}

std::shared_ptr<Peer> Service::find_peer(uint64_t token) {
  std::lock_guard lock(peers_mutex_);
  for (const auto& [block, entry] : peers_) {
    if (entry.peer->token() == token) return entry.peer;
  }
  for (const Entry& entry : dying_peers_) {
    if (entry.peer->token() == token) return entry.peer;
  }
  return nullptr;
}

void Service::receive_replies(Peer& peer) {
  if (!take_replies(peer)) bury(peer);
}

bool Service::take_replies(Peer& peer) {
  for (;;) {
    const ssize_t received = recv(peer.socket(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    // A reset is told once, before what the peer sent until then.
    if (received < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (received < 0 && errno == EAGAIN) return true;
    if (received < static_cast<ssize_t>(sizeof(Message))) return false;
    const auto* reply = reinterpret_cast<const Message*>(buffer_.data());
    if (reply->type == MessageType::kRegionGone) {
      peer.windows().close(reply->rkey);
      continue;
    }
    const auto lock = process_.queue_pairs().lock();
    if (QueuePair* queue_pair = process_.queue_pairs().find(reply->dest_qpn)) {
      queue_pair->on_reply(*reply, buffer_.data() + sizeof(Message));
    }
  }
}

void Service::resume(Peer& peer) {
  peer.writable();
  const auto lock = process_.queue_pairs().lock();
  process_.queue_pairs().for_each([&](QueuePair& each) { each.on_writable(peer); });
}

void Service::run() {
  process_.table().death.sign();
  for (;;) {
    pollfd entry{epoll_.get(), POLLIN, 0};
    poll(&entry, 1, -1);
    if (polled_recently()) {
      nap();
      continue;
    }
    std::unique_lock lock(progress_mutex_);
    handle_ready();
    const auto stalled_until = stalled_until_;
    lock.unlock();
    if (faults_ != nullptr) std::this_thread::sleep_until(stalled_until);
  }
}

void Service::handle_ready() {
  if (faults_ != nullptr && Clock::now() < stalled_until_) return;
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    static_cast<EventHandler*>(event.data.ptr)->on_events(event.events);
  }
  if (count <= 0) return;
  if (faults_ != nullptr) stall();
  closed_connections_.clear();
  std::vector<Entry> buried;
  std::lock_guard lock(peers_mutex_);
  buried.swap(buried_peers_);
}

/// Now and then nothing is handled for a time, as if the process did not get a processor. READs and
/// WRITEs to its memory go on.
void Service::stall() {
  const auto strike = faults_->strike(Fault::kStall);
  if (!strike) return;
  faults_->log(Fault::kStall, "");
  stalled_until_ = Clock::now() + strike->rule.time;
}

void Service::progress(bool again) {
  if (!started_.load(std::memory_order_acquire)) return;
  if (again) {
    polled_at_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
  }
  const std::unique_lock lock(progress_mutex_, std::try_to_lock);
  if (lock) handle_ready();
}

void Service::polling_ended() {
  polled_at_.store(0);
  if (napping_.load()) eventfd_write(wake_.get(), 1);
}

bool Service::polled_recently() const {
  const auto now = Clock::now().time_since_epoch();
  return now - Clock::duration(polled_at_.load()) < kPollingPause;
}

void Service::nap() {
  napping_.store(true);
  if (polled_recently()) {
    pollfd entry{wake_.get(), POLLIN, 0};
    const timespec time{0, std::chrono::nanoseconds(kNap).count()};
    ppoll(&entry, 1, &time, nullptr);
  }
  napping_.store(false);
  eventfd_t ignored = 0;
  eventfd_read(wake_.get(), &ignored);
}

void Service::announce_region_gone(uint32_t key) {
  Message message{};
  message.type = MessageType::kRegionGone;
  message.rkey = key;
  const std::lock_guard lock(progress_mutex_);
  for (const auto& [connection, owned] : connections_) {
    if (connection->token() != 0) connection->reply(message, nullptr);
  }
}

void Service::leave_to_parent() {
  listener_.reset();
  epoll_.reset();
  if (timers_) timers_->close();
}

}  // namespace softverbs
