#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rdmablk::copy {

/// How far a copy is, for people: "[####......]  42 %  1.3 of 3.0 GiB  512 MiB/s  0:03 left".
/// @param total bytes; UINT64_MAX: nobody knows. @param rate bytes a second.
std::string progress_text(std::uint64_t bytes, std::uint64_t total, double rate);

/// Draws that, over and over on the same line of standard error when that is a terminal; nothing on
/// anything else. Clears the line at the end.
class Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param doing what is going on, in front of the bar: "copying". @param wanted false: nothing is
  /// drawn, wherever.
  Progress(std::string doing, std::uint64_t total, bool wanted);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool is_shown() const noexcept { return is_shown_; }

  /// @param bytes that are done.
  void draw(std::uint64_t bytes);

  /// Clears the line: for who has something else to say there.
  void clear() noexcept;

 private:
  std::string doing_;
  std::uint64_t total_;
  bool is_shown_;
  bool drawn_ = false;
  Clock::time_point start_;
};

}  // namespace rdmablk::copy
