#pragma once

#include <string>

#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// While one lives, what this process and its children write to standard error is kept: it is how
/// fusermount3 says why it refuses. Used while setting up, when nothing else is logged.
class StderrCapture {
 public:
  /// Keeps nothing, and everything goes where it went, when it cannot be set up.
  StderrCapture() noexcept;
  ~StderrCapture();
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  /// What was written so far (4 KiB of it at most).
  std::string text() const;

 private:
  UniqueFd file_;
  UniqueFd original_;
};

}  // namespace rdmablk::fuse
