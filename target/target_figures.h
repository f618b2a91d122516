#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "target/administration.h"
#include "target/client_reports.h"
#include "target/counters.h"
#include "target/counts.h"
#include "target/export_history.h"

namespace rdmablk::target {

/// A target as those who watch it see it, at one moment.
struct TargetFigures {
  std::vector<ExportStatus> exports;
  std::vector<SessionStatus> sessions;
  Counts counts;
  Counters counters;
  std::map<ClientReports::Key, protocol::Use> reports;
  std::map<std::string, ExportHistoryEntry> history;  ///< of each export
  std::uint64_t slot_memory = 0;                      ///< bytes that slots take
  std::uint64_t slot_memory_limit = 0;                ///< bytes that they may take
  std::chrono::nanoseconds uptime{};

  /// What Prometheus reads.
  std::string metrics() const;

  /// What the page reads: JSON.
  std::string status() const;
};

}  // namespace rdmablk::target
