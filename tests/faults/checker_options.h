#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "common/uri.h"
#include "initiator/recovery_options.h"
#include "tests/faults/shared_history.h"

namespace rdmablk::faults {

/// What one process does to an export.
struct CheckerOptions {
  Uri uri;
  unsigned threads = 4;  ///< each with a queue
  unsigned depth = 8;    ///< requests in flight on a queue
  unsigned read_percent = 50;
  unsigned flush_every = 0;      ///< one request in so many is a flush; 0: none
  std::uint64_t operations = 0;  ///< of all threads; 0: no limit
  std::chrono::seconds time{0};  ///< 0: no limit
  std::uint64_t seed = 1;
  /// A queue that fails for so long is given up, with its session, for a new one.
  std::chrono::milliseconds patience{0};
  /// Without a session for so long, the checker fails.
  std::chrono::seconds give_up{60};
  /// A new session fences what earlier ones of this lane have left behind.
  bool fenced = false;
  initiator::RecoveryOptions recovery;
  bool take_over = false;  ///< the lease, from whoever holds it
  /// A session that is given up is not told to the target before the end, as when a link is lost.
  bool abandon = false;
};

}  // namespace rdmablk::faults
