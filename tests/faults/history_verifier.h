#pragma once

#include <optional>
#include <vector>

#include "common/unique_fd.h"
#include "tests/faults/history_checker.h"
#include "tests/faults/shared_history.h"

namespace rdmablk::faults {

/// Takes what the writers of a history tell, and checks it. Used by one thread.
class HistoryVerifier {
 public:
  /// @param history outlives it.
  explicit HistoryVerifier(const SharedHistory& history);

  /// Takes what has been told until now, and notices writers that have died.
  /// @return the records that were taken.
  std::size_t advance();
  /// No writer is left: takes the rest.
  void finish();

  const HistoryChecker& checker() const noexcept { return checker_; }
  /// Writers that died in the middle.
  unsigned deaths() const noexcept { return deaths_; }
  /// Whether a lane has an owner.
  bool has_writers() const noexcept;

 private:
  struct Write {
    std::uint32_t word;
    Tag tag;
    Time start;
  };
  /// What the verifier knows of a lane.
  struct State {
    std::int64_t owner = 0;
    UniqueFd process;              ///< pidfd of the owner
    std::vector<Write> open;       ///< begun, not ended
    std::vector<Write> unsettled;  ///< failed, not fenced
    Time attached = INT64_MIN;     ///< when its session was there
    std::optional<Time> fence;     ///< another process has taken over from its session
  };

  std::size_t drain(unsigned lane);
  void apply(State& state, const Record& record);
  void begin(State& state, const Record& record);
  void end(State& state, const Record& record);
  void settle(State& state, const Record& record);
  void take_over(const State& by, const Record& record);
  void fail_open(State& state);
  void watch_owner(unsigned lane);
  bool owner_has_died(const State& state) const;

  const SharedHistory& history_;
  HistoryChecker checker_;
  std::vector<State> states_;
  unsigned deaths_ = 0;
};

}  // namespace rdmablk::faults
