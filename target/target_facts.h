#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace rdmablk::target {

/// What a running target says of itself to its administrator, and that hardly changes.
struct TargetFacts {
  std::vector<std::string> listening;  ///< addresses with their ports
  std::vector<std::string> devices;    ///< RDMA devices that it serves over
  std::vector<std::string> away;       ///< those that it did, and that were removed
  std::string configuration;           ///< the file; empty: none
  bool asks_clients = false;           ///< clients have to prove who they are
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};

}  // namespace rdmablk::target
