#include "common/softverbs/verbs/late_writes.h"

#include <pthread.h>

#include <thread>

#include "common/softverbs/verbs/blocked_signals.h"

namespace softverbs {
namespace {

/// What is refused is lost: its requester does not listen any more.
void arrive(LateWrite& write) {
  if (!write.peer->check_alive()) return;
  PieceList pieces;
  pieces.add(reinterpret_cast<uint64_t>(write.data.data()), write.data.size());
  access_directly(*write.peer, write.route, write.remote, pieces, false);
}

}  // namespace

void LateWrites::add(LateWrite write, Clock::time_point when) {
  const std::lock_guard lock(mutex_);
  writes_.emplace(when, std::move(write));
  changed_.notify_one();
  if (started_) return;
  const BlockedSignals blocked;
  std::thread thread([this] { run(); });
  pthread_setname_np(thread.native_handle(), "softverbs-late");
  thread.detach();
  started_ = true;
}

void LateWrites::lose(uint32_t source_qpn) {
  const std::lock_guard lock(mutex_);
  std::erase_if(writes_,
                [&](const auto& each) { return each.second.route.source_qpn == source_qpn; });
}

void LateWrites::lose(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  std::erase_if(writes_, [&](const auto& each) { return each.second.peer.get() == &peer; });
}

void LateWrites::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (writes_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = writes_.begin();
    if (first->first > Clock::now()) {
      changed_.wait_until(lock, Clock::time_point(first->first));
      continue;
    }
    arrive(first->second);
    writes_.erase(first);
  }
}

}  // namespace softverbs
