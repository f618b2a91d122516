#pragma once

#include <csignal>

#include "common/unique_fd.h"

namespace rdmablk::cli {

/// While it lives, SIGINT and SIGTERM do not end the process but make a descriptor readable
/// (signalfd(2)). Made before the threads that are to inherit the blocked signals.
class TerminationSignals {
 public:
  /// Throws SystemError.
  TerminationSignals();
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

  /// Readable when a signal has come.
  int fd() const noexcept { return fd_.get(); }

  /// Takes the signal that came; from here on the next one ends the process.
  void take() noexcept;

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace rdmablk::cli
