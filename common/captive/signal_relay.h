#pragma once

#include <optional>
#include <thread>

#include "common/captive/captive_command.h"
#include "common/unique_fd.h"

namespace rdmablk {

/// For a program that ends on SIGTERM by itself: passes SIGTERM, SIGINT and SIGHUP on to its
/// captive command as long as that runs, and raises SIGTERM when it has ended. Made before any
/// thread is started: those signals are blocked from then on, for all but the relay's own.
class SignalRelay {
 public:
  /// @param command outlives this. Throws SystemError.
  explicit SignalRelay(CaptiveCommand& command);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  /// Begins; the command has been started.
  void start();

  /// See CaptiveCommand::status(); nothing when it has not ended, or was never started. After the
  /// program's main part is through.
  std::optional<int> stop();

 private:
  void run();

  CaptiveCommand& command_;
  UniqueFd signals_;
  UniqueFd stop_;
  std::optional<int> status_;
  std::thread thread_;
};

}  // namespace rdmablk
