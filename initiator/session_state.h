#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rdmablk::initiator {

/// How a session's connection is doing, for people.
struct SessionState {
  enum class Phase : std::uint8_t {
    connected,
    reconnecting,  ///< requests wait
    failing,       ///< requests end with EIO, and it still tries to reconnect
    lost,          ///< for good: requests end with EIO
  };

  Phase phase = Phase::connected;
  std::chrono::steady_clock::time_point since{};  ///< when this phase began
  std::uint64_t reconnects = 0;                   ///< times that a lost connection came back
  std::string reason;                             ///< of the last loss; empty: there was none
  std::string last_error;  ///< why it is not back yet, or at all; empty: nothing has failed
};

}  // namespace rdmablk::initiator
