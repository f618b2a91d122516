#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/unique_fd.h"

namespace rdmablk::target {

/// Where the service has its state, and its user's home is.
inline constexpr const char* kServiceStateDirectory = "/var/lib/rdmablk";

/// Where a target keeps its state unless it is told: the service manager's directory for it, else
/// that of the system for root, and that of the user for everybody else. Throws Error when the user
/// has no home.
std::string default_state_directory();

/// Checks that nobody but root and this user may write to a directory. Throws Error.
/// @param fd of it. @param path for the message.
void check_state_directory(int fd, const std::string& path);

/// A directory of small files that outlive the machine's crash. Different files may be used by
/// different threads and processes at a time.
class StateDirectory {
 public:
  /// Makes the directory, and those above it, when it is missing; for its owner alone (mode 0700).
  /// One that is there is refused when others than root and this user may write to it. Throws
  /// Error.
  explicit StateDirectory(std::string path);

  const std::string& path() const noexcept { return path_; }

  /// The content of a file; nothing when there is none. Throws SystemError.
  std::optional<std::string> read(const std::string& name) const;

  /// Replaces a file as a whole, or makes it; on stable storage when this returns. When it throws
  /// the file has its old content, or, at the last step, the new one. Throws SystemError.
  void write(const std::string& name, std::string_view content) const;

  /// Takes a file away, durably, if there is one. Throws SystemError.
  void remove(const std::string& name) const;

 private:
  void sync(const std::string& name) const;

  std::string path_;
  UniqueFd directory_;
};

}  // namespace rdmablk::target
