#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace rdmablk {

/// Decides which of the lines that a peer causes go to the log: nobody else may fill a disk.
class LogLimiter {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long a window of time is, and the lines in one that are usual.
  static constexpr std::chrono::seconds kWindow{10};
  static constexpr unsigned kLines = 10;

  explicit LogLimiter(unsigned lines = kLines) noexcept : limit_(lines) {}

  /// Counts a line.
  /// @return what to log; nothing when there is enough in the log already. The first line of a
  /// window tells how many were left out before.
  std::optional<std::string> note(const std::string& text, Clock::time_point now = Clock::now());

  /// Whether the window has passed.
  bool is_idle(Clock::time_point now = Clock::now()) const noexcept;

  /// Lines that nobody has been told of yet.
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  unsigned limit_;
  Clock::time_point window_{};
  unsigned lines_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace rdmablk
