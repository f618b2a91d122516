#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "initiator/recovery_options.h"
#include "initiator/session_state.h"

namespace rdmablk::initiator {

/// How a session is doing, and what it is to do while its connection is down: kept by the control
/// thread, seen and changed by any.
class SessionCondition {
 public:
  explicit SessionCondition(const RecoveryOptions& options) : options_(options) {
    state_.since = std::chrono::steady_clock::now();
  }

  RecoveryOptions options() const {
    const std::lock_guard lock(mutex_);
    return options_;
  }
  void set_options(const RecoveryOptions& options) {
    const std::lock_guard lock(mutex_);
    options_ = options;
  }

  SessionState state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

  /// Has `told` called whenever a phase was entered. Before any is.
  void on_entered(std::function<void()> told) { told_ = std::move(told); }

  /// @param reason of the loss that the phase comes from.
  void enter(SessionState::Phase phase, const std::string& reason) {
    set_phase(phase, reason);
    if (told_) told_();
  }

  /// An attempt to reconnect has failed.
  void set_last_error(const std::string& why) {
    const std::lock_guard lock(mutex_);
    state_.last_error = why;
  }

 private:
  void set_phase(SessionState::Phase phase, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (phase == SessionState::Phase::connected) {
      ++state_.reconnects;
      state_.last_error.clear();
    }
    state_.phase = phase;
    state_.since = std::chrono::steady_clock::now();
    state_.reason = reason;
  }

  mutable std::mutex mutex_;
  RecoveryOptions options_;
  SessionState state_;
  std::function<void()> told_;
};

}  // namespace rdmablk::initiator
