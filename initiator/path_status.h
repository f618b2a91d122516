#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "common/uri.h"
#include "initiator/path_use.h"

namespace rdmablk::initiator {

/// One of the addresses of a target that a session has, and what it carries, for people.
struct PathStatus {
  HostPort place;
  std::string device;      ///< of this host, that leads there: "mlx5_0"; empty: not known
  bool is_up = true;       ///< in doubt it is
  bool is_admin = false;   ///< the session's own words go this way
  std::string last_error;  ///< why it is not up; empty when it is
  std::chrono::steady_clock::time_point since{};  ///< when it last came up or went down
  unsigned queues = 0;                            ///< whose connections go over it now
  PathUse::Counts counts{};                       ///< of all queues, since the session began
  std::uint64_t failures = 0;                     ///< times that it went down
};

}  // namespace rdmablk::initiator
