#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/metrics/io_counters.h"
#include "fuse/worker_plan.h"
#include "initiator/path_status.h"
#include "initiator/session_state.h"

namespace rdmablk::fuse {

/// A mount as those who watch it see it, at one moment.
struct MountFigures {
  std::string source;  ///< the URI, or "null"
  std::string export_name;
  std::string mount_point;
  std::string device;      ///< the RDMA device; empty: none
  std::uint64_t size = 0;  ///< bytes
  bool read_only = false;
  WorkerPlan plan;
  initiator::SessionState state;
  std::vector<initiator::PathStatus> paths;  ///< to the target
  metrics::IoFigures io;
  std::size_t in_flight = 0;                       ///< requests that are not answered
  std::optional<std::chrono::nanoseconds> oldest;  ///< age of the oldest request; nothing: none

  /// What Prometheus reads.
  std::string metrics() const;

  /// What the page reads: JSON.
  std::string status() const;
};

}  // namespace rdmablk::fuse
