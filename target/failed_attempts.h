#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rdmablk::target {

/// Decides which of the attempts that were refused are worth a line in the log: a stranger must not
/// be able to fill the disk with them.
class FailedAttempts {
 public:
  using Clock = std::chrono::steady_clock;

  /// Lines in a window of time, and how long it is.
  static constexpr unsigned kLines = 10;
  static constexpr std::chrono::seconds kWindow{10};

  /// Counts an attempt.
  /// @return what to log; nothing when there is enough in the log already. The first line of a
  /// window tells how many were left out before.
  std::optional<std::string> note(const std::string& text, Clock::time_point now = Clock::now());

 private:
  Clock::time_point window_{};
  unsigned lines_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace rdmablk::target
