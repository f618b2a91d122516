#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk {

/// Lets others find the process that serves a mount: an abstract Unix socket, named after the
/// device number of the mount, that listens and accepts nothing (unix(7)). The process holds it as
/// long as it lives, and needs no thread for it; nothing is left when it dies.
class DaemonMarker {
 public:
  /// @param device of the mount, "major:minor" as /proc/self/mountinfo has it. Throws SystemError.
  explicit DaemonMarker(const std::string& device);

 private:
  UniqueFd socket_;
};

/// How long a daemon may take to end once its mount is gone: it has the target flush what was
/// written and not synced.
inline constexpr std::chrono::seconds kDaemonEndTime{40};

/// The other side: a process that holds the marker of a mount.
class MountDaemon {
 public:
  /// Nothing when no process of root's or of this user's holds the marker, or it cannot be watched.
  /// @param device as above.
  static std::optional<MountDaemon> find(const std::string& device);

  pid_t pid() const noexcept { return pid_; }

  /// Waits until the process has ended (pidfd_open(2)). @return false when it did not in time.
  bool wait_for_end(std::chrono::milliseconds timeout) const;

 private:
  MountDaemon(pid_t pid, UniqueFd pidfd) noexcept : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_;
  UniqueFd pidfd_;
};

}  // namespace rdmablk
