#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/softverbs/faults/fault.h"
#include "common/softverbs/faults/fault_source.h"
#include "common/softverbs/file_descriptor.h"

namespace softverbs {

/// A fault that strikes now.
struct Strike {
  FaultRule rule;
  uint64_t random = 0;  ///< For what else is left to chance.

  /// A time from nothing to what the rule says.
  [[nodiscard]] std::chrono::microseconds random_time() const {
    const auto longest = static_cast<uint64_t>(rule.time.count());
    return std::chrono::microseconds(random % (longest + 1));
  }
};

/// Decides what goes wrong in this process. Thread-safe.
///
/// Whether the n-th chance of a rule is a strike follows from SOFTVERBS_SEED, the program's name
/// and n alone. Which request meets the n-th chance is as reproducible as the program's threads.
class FaultInjector {
 public:
  /// The process's; null when SOFTVERBS_FAULTS is not set, or is not understood. The environment is
  /// read at the first call. Keep the pointer: whoever is on the data path asks once.
  static FaultInjector* get();
  /// Whether SOFTVERBS_FAULTS or SOFTVERBS_SEED was not understood: there are no devices then.
  static bool refused();

  /// Throws std::invalid_argument.
  FaultInjector(std::string specification, uint64_t seed);

  /// \return the strike if this chance of `fault` is one.
  std::optional<Strike> strike(Fault fault);
  /// Likewise for a message of the connection manager.
  std::optional<Strike> strike(CmEvent event);
  /// Whether this fault may strike at some time.
  bool expects(Fault fault);
  std::chrono::milliseconds cm_timeout();
  /// The outages that the plan has now for a device, as it is at this moment.
  std::vector<Fault> outages(int device);
  /// The file that the plan comes from; empty when it comes from none, and does not change.
  [[nodiscard]] std::string plan_file() const;

  /// Writes a fault into the log, if there is one. A fault counts when it has been logged.
  void log(Fault fault, std::string_view detail);

 private:
  struct Counted {
    FaultRule rule;
    uint64_t chances = 0;
    uint64_t strikes = 0;
  };

  std::optional<Strike> strike(Fault fault, std::optional<CmEvent> event);
  std::optional<Strike> take_chance(Counted& counted, uint64_t number);
  void refresh(bool at_once = false);
  void adopt(FaultPlan plan);

  std::mutex mutex_;
  FaultSource source_;
  uint64_t seed_;
  uint64_t version_ = 0;  ///< Of the plan.
  std::vector<Counted> rules_;
  std::chrono::milliseconds cm_timeout_{};
  std::string log_path_;
  FileDescriptor log_;
};

}  // namespace softverbs
