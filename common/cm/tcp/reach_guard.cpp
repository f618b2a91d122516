#include "common/cm/tcp/reach_guard.h"

namespace rdmablk::cm::tcp {
namespace {

/// A look that takes longer is one that has others wait.
constexpr std::chrono::milliseconds kShort{50};

/// The part of the time that looks in vain may take: one in so many.
constexpr int kShare = 20;

/// Peers that are remembered.
constexpr std::size_t kMaxFound = 4096;

}  // namespace

bool ReachGuard::allows(const GidBytes& peer, const std::optional<GidBytes>& tcp_peer,
                        Clock::time_point now) const {
  return peer == tcp_peer || found_.contains(peer) || now >= closed_until_;
}

void ReachGuard::note(const GidBytes& peer, Clock::duration took, bool found,
                      Clock::time_point now) {
  if (took > kShort) closed_until_ = now + kShare * took;
  if (!found) {
    found_.erase(peer);
    return;
  }
  if (found_.size() >= kMaxFound) found_.clear();
  found_.insert(peer);
}

}  // namespace rdmablk::cm::tcp
