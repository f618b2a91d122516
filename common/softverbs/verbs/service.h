#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/softverbs/faults/fault_injector.h"
#include "common/softverbs/file_descriptor.h"
#include "common/softverbs/verbs/connection.h"
#include "common/softverbs/verbs/event_handler.h"
#include "common/softverbs/verbs/peer.h"
#include "common/softverbs/verbs/timer_queue.h"

namespace softverbs {

class Process;

/// What a process does besides posting: it serves the requests of peers, takes their replies, runs
/// retries and notices their deaths. One thread does so, with all signals blocked, asleep when
/// there is nothing to do. A thread that polls an empty completion queue lends a hand, and while
/// there is one the service thread naps, so that the two do not fight over a processor.
class Service {
 public:
  explicit Service(Process& process) : process_(process) {}
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Allocates the process's block of queue pair numbers and starts the thread, once.
  /// Throws std::system_error.
  void start();
  /// After `start`: the upper bits of the process's queue pair numbers.
  [[nodiscard]] uint32_t block() const { return block_; }

  /// The process that owns a queue pair number, connecting to it if need be. Call it without any
  /// lock of a queue pair: the other process's service thread may need one to answer.
  /// \return null when there is none.
  std::shared_ptr<Peer> resolve(uint32_t qpn);

  /// Has the service thread call QueuePair::on_timer of queue pair `qpn` at `when`.
  void schedule(uint32_t qpn, Clock::time_point when) { timers_->schedule(qpn, when); }

  /// For a thread that polls in vain: handles what is ready, unless another thread is at it.
  /// \param again  it will soon poll again, as far as one knows
  void progress(bool again);
  /// For a thread that is about to sleep until a completion comes: nobody polls any more.
  void polling_ended();

  /// Tells the peers that a region's memory need not be mapped any more. Call it when all copies
  /// from and to it are over.
  void announce_region_gone(uint32_t key);

  /// For a forked child: closes the copies of the descriptors.
  void leave_to_parent();

  // For the handlers, under the progress lock.
  void watch(int fd, uint32_t events, EventHandler& handler, bool change = false);
  void accept_connections();
  void close_connection(Connection& connection);
  void run_timers();
  void bury(Peer& peer);
  /// The peer with this identity that requests of this process go to; null when there is none.
  std::shared_ptr<Peer> find_peer(uint64_t token);
  /// Handles the replies that have come. \return false when no more will come.
  bool take_replies(Peer& peer);
  void receive_replies(Peer& peer);
  void resume(Peer& peer);

 private:
  struct PeerHandlers {
    std::unique_ptr<EventHandler> socket;
    std::unique_ptr<EventHandler> death;
  };
  struct Entry {
    std::shared_ptr<Peer> peer;
    std::unique_ptr<PeerHandlers> handlers;
  };

  void bind_block();
  void forget(const Peer& peer);
  [[noreturn]] void run();
  void handle_ready();
  void stall();
  [[nodiscard]] bool polled_recently() const;
  void nap();

  Process& process_;
  FaultInjector* const faults_ = FaultInjector::get();
  std::mutex start_mutex_;
  std::atomic<bool> started_{false};
  uint32_t block_ = 0;
  FileDescriptor listener_;
  FileDescriptor epoll_;
  std::unique_ptr<TimerQueue> timers_;
  std::unique_ptr<EventHandler> listener_handler_;
  std::unique_ptr<EventHandler> timer_handler_;

  std::mutex progress_mutex_;  ///< Held while events are handled; taken before all other locks.
  Clock::time_point stalled_until_;  ///< Under the progress lock.
  std::atomic<Clock::rep> polled_at_{0};
  std::atomic<bool> napping_{false};
  FileDescriptor wake_;  ///< An eventfd that ends a nap.

  // Connections from peers, under the progress lock.
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::vector<std::unique_ptr<Connection>> closed_connections_;

  std::mutex peers_mutex_;
  std::map<uint32_t, Entry> peers_;  ///< By block.
  std::vector<Entry> dying_peers_;   ///< Replaced in `peers_`, their death not handled yet.
  std::vector<Entry> buried_peers_;  ///< Until the events at hand are done.
  std::vector<char> buffer_;
};

}  // namespace softverbs
