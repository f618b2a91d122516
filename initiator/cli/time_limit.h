#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace rdmablk::cli {

/// Bounds all that a command does while this lives, wherever it waits: looking up a name, for the
/// target, for a target that was stopped in the middle of an answer. When the time is over it says
/// so, and ends the process with kExitFailed, without more ado: only for commands that change
/// nothing and have printed nothing.
class TimeLimit {
 public:
  /// @param time after which it ends, and a little more: what gives up at that very time by itself
  /// has the better words. @param doing for the message: "list the exports of storage1". Made
  /// before anything that the process does with a device; its thread uses none.
  TimeLimit(std::chrono::milliseconds time, std::string doing);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  void watch(std::chrono::steady_clock::time_point end);

  std::chrono::milliseconds time_;
  std::string doing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;  ///< what it bounds
  std::thread thread_;
};

/// Reads the value of --timeout: seconds, more than 0, with up to three decimals. Throws
/// UsageError.
std::chrono::milliseconds read_timeout(const std::string& value);

}  // namespace rdmablk::cli
