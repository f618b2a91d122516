#pragma once

#include <cstdint>
#include <string>

namespace rdmablk::target {

/// What a target has done since it started. One thread.
struct Counters {
  std::uint64_t sessions = 0;     ///< that said HELLO
  std::uint64_t attachments = 0;  ///< made
  std::uint64_t io_queues = 0;    ///< accepted
  std::uint64_t messages = 0;     ///< that came on admin queues

  /// Completions, receives above all, on the I/O queues of exports that are served one-sided. None
  /// are possible: the device alone serves those.
  std::uint64_t io_queue_completions = 0;

  std::uint64_t refused = 0;     ///< requests to connect that were refused
  std::uint64_t evictions = 0;   ///< sessions that the target ended: silent ones, and by order
  std::uint64_t take_overs = 0;  ///< attachments that lost their lease to another

  /// One line for the log.
  std::string text() const;
};

}  // namespace rdmablk::target
