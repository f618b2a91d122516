#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "common/softverbs/verbs/direct_access.h"
#include "common/softverbs/verbs/timer_queue.h"

namespace softverbs {

/// A WRITE whose requester has given up, on the network: its own copy of the data.
struct LateWrite {
  std::shared_ptr<Peer> peer;
  Route route;
  RemoteRange remote;
  std::vector<char> data;
};

/// The network between this process and its peers, as far as it holds WRITEs back (the fault
/// late-write): they arrive when their time has come, unless the responder's queue pair is gone or
/// has left the connection by then. They die with the process. Thread-safe.
class LateWrites {
 public:
  LateWrites() = default;
  LateWrites(const LateWrites&) = delete;
  LateWrites& operator=(const LateWrites&) = delete;

  /// WRITEs with one time arrive in the order of the calls.
  void add(LateWrite write, Clock::time_point when);
  /// Loses what a queue pair has sent: it begins a new connection under its old number. Waits for
  /// what is arriving.
  void lose(uint32_t source_qpn);
  /// Loses what is on its way to a peer that has died. Waits likewise.
  void lose(const Peer& peer);

 private:
  [[noreturn]] void run();

  std::mutex mutex_;  ///< Held while a WRITE arrives.
  std::condition_variable changed_;
  std::multimap<Clock::time_point, LateWrite> writes_;
  bool started_ = false;
};

}  // namespace softverbs
