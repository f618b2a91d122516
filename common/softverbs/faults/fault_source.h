#pragma once

#include <sys/stat.h>

#include <chrono>
#include <optional>
#include <string>

#include "common/softverbs/faults/fault.h"

namespace softverbs {

/// Where the plan comes from: the value of SOFTVERBS_FAULTS itself or, when that is @FILE, a file,
/// which may change while the process runs.
class FaultSource {
 public:
  explicit FaultSource(std::string specification);

  /// The plan as it is now. Throws std::invalid_argument, also when the file cannot be read.
  FaultPlan read();
  /// The plan if the file has changed since it was read last; looks no more often than every few
  /// milliseconds. What cannot be understood is said on standard error and changes nothing.
  /// \param at_once  looks in any case
  std::optional<FaultPlan> changed(bool at_once = false);

  [[nodiscard]] bool is_file() const { return specification_.starts_with('@'); }
  [[nodiscard]] std::string path() const { return specification_.substr(1); }

 private:
  bool looks_new();

  std::string specification_;
  struct stat seen_ {};
  std::chrono::steady_clock::time_point look_at_;
};

}  // namespace softverbs
