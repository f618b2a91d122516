#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "common/softverbs/file_descriptor.h"

namespace softverbs::cm {

/// The one background thread of the connection manager: it waits for sockets, timers and work
/// that calls left to it, and sleeps otherwise. It starts with the object and lives as long as
/// the process; all signals are blocked in it.
///
/// Every callback runs in that thread with `mutex` held; every other member function must be
/// called with `mutex` held.
class ProgressThread {
 public:
  using Callback = std::function<void()>;
  using Clock = std::chrono::steady_clock;
  /// Names a watch or a timer; 0 names none and may be cancelled.
  using Token = uint64_t;

  /// @throws std::system_error
  explicit ProgressThread(std::mutex& mutex);
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  /// Runs `callback` whenever `fd` is readable. @throws std::system_error
  Token watch(int fd, Callback callback);
  /// Ends a watch; call it before the descriptor is closed.
  void unwatch(Token& token, int fd);
  /// Runs `callback` once, later.
  void defer(Callback callback);
  /// Runs `callback` once after `delay`.
  Token arm(Clock::duration delay, Callback callback);
  void disarm(Token& token);

 private:
  void run();
  void run_deferred();
  void run_timers();
  void run_watch(Token token);
  [[nodiscard]] int timeout() const;
  void wake() const;

  std::mutex& mutex_;
  FileDescriptor epoll_;
  FileDescriptor wakeup_;
  Token next_token_ = 1;
  std::unordered_map<Token, Callback> watches_;
  std::vector<Callback> deferred_;
  std::map<std::pair<Clock::time_point, Token>, Callback> timers_;
  std::unordered_map<Token, Clock::time_point> deadlines_;
};

}  // namespace softverbs::cm
