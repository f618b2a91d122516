#pragma once

#include <chrono>
#include <optional>
#include <set>

#include "common/cm/tcp/gid.h"

namespace rdmablk::cm::tcp {

/// Limits how much of a thread's time strangers can take by naming addresses where nobody is: to
/// make a queue pair ready to receive, the kernel looks for the peer on the network, and has the
/// caller wait, for a second when nobody answers.
class ReachGuard {
 public:
  using Clock = std::chrono::steady_clock;

  /// Whether a peer may be looked for: always one whose TCP connection comes from there, and one
  /// that was found the last time; another only when the last vain look is long enough ago.
  /// @param tcp_peer where the TCP connection comes from; nothing: not known.
  bool allows(const GidBytes& peer, const std::optional<GidBytes>& tcp_peer,
              Clock::time_point now = Clock::now()) const;

  /// One was looked for. @param took how long. @param found whether it is there.
  void note(const GidBytes& peer, Clock::duration took, bool found,
            Clock::time_point now = Clock::now());

 private:
  std::set<GidBytes> found_;
  Clock::time_point closed_until_{};
};

}  // namespace rdmablk::cm::tcp
