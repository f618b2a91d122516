#pragma once

#include <cstddef>
#include <string>

#include "target/footprint.h"

namespace rdmablk::target {

/// What a target has at a moment, to be compared with what the system says it has: what only grows
/// is a leak.
struct Counts {
  std::size_t sessions = 0;  ///< also those that have ended and whose queues are not through
  std::size_t attachments = 0;
  std::size_t io_queues = 0;  ///< connected
  std::size_t draining = 0;   ///< I/O queues that are not through
  Footprint footprint;
  std::size_t leases = 0;  ///< held
  std::size_t open_fds = 0;

  /// One line for the log: "counts: sessions=0 attachments=0 ...".
  std::string text() const;
};

/// The file descriptors that this process has open.
std::size_t count_open_fds();

}  // namespace rdmablk::target
