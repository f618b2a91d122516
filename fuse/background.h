#pragma once

#include <sys/types.h>

#include <string>

#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// A process that goes to the background when it works, and until then owes its parent an answer.
/// The fork comes first of all: registered memory and fork do not go together.
class Background {
 public:
  /// Forks. Returns in both processes. Throws SystemError.
  static Background fork();

  /// Whether this is the process that stays in the foreground.
  bool is_parent() const noexcept { return child_ != 0; }

  /// Parent: waits for the child's answer. Throws Error with the child's own words when it failed,
  /// or something about how it ended.
  void wait_until_ready();

  /// Child: leaves the terminal and the directory it was started in, and tells the parent that all
  /// is well. @return whether the parent was still there to hear it.
  bool ready();

  /// Child: tells the parent, in one line, why it failed.
  void failed(const std::string& text);

 private:
  Background(pid_t child, UniqueFd pipe) noexcept : child_(child), pipe_(std::move(pipe)) {}

  pid_t child_;    ///< 0 in the child
  UniqueFd pipe_;  ///< the child writes, the parent reads
};

}  // namespace rdmablk::fuse
