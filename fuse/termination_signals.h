#pragma once

#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// SIGTERM, SIGINT and SIGHUP, taken as requests to end. While one lives they wait to be read, in
/// the thread that made it and those that it starts; SIGPIPE is ignored from then on.
class TerminationSignals {
 public:
  TerminationSignals();  ///< Throws SystemError.

  /// Waits for a signal, or until another descriptor becomes readable.
  /// @return the signal's number, 0 when it was the descriptor.
  int wait(int other) const;

  /// The same with two others.
  int wait(int other, int another) const;

 private:
  UniqueFd fd_;
};

}  // namespace rdmablk::fuse
