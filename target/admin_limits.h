#pragma once

#include <chrono>
#include <cstddef>

namespace rdmablk::target {

/// What users of the administration socket may take.
struct AdminLimits {
  std::size_t line = std::size_t{64} << 10;   ///< bytes of a request
  std::size_t connections = 16;               ///< at a time
  std::size_t requests = 1000;                ///< of a connection, which then ends
  std::chrono::milliseconds patience{30000};  ///< for a whole request; and to take a whole reply
};

}  // namespace rdmablk::target
