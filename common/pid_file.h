#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk {

/// The file with the number of a daemon's process, from when it is ready until it ends. It is
/// locked (flock(2)) as long as that process lives: what one that was killed has left is replaced.
class PidFile {
 public:
  /// Looks whether there is one of a process that lives; changes nothing.
  /// @param path absolute. @param replaced the process that may have it: it ends soon, and this one
  /// takes its place. Throws Error when another has it.
  explicit PidFile(std::string path, std::optional<pid_t> replaced = std::nullopt);

  /// Looks whether one could be written at a path, and makes nothing. Throws Error; not for one of
  /// a process that lives.
  /// @return the number of that process; empty: there is none.
  static std::string probe(const std::string& path);

  /// Takes the file away, if it is still this one's.
  ~PidFile();
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;

  /// Writes this process's number, as a whole or not at all. Throws Error, also when another
  /// process has it by now.
  void write();

 private:
  void refuse_if_held() const;

  std::string path_;
  std::optional<pid_t> replaced_;
  UniqueFd fd_;  ///< has the lock
};

}  // namespace rdmablk
