#pragma once

#include <string>

#include "common/mount_control.h"
#include "common/mount_table.h"
#include "common/unique_fd.h"

namespace rdmablk::cli {

/// A mount of rdmablk-fuse, to ask it how it is doing (common/mount_control.h). Works while its
/// reads and writes hang.
class MountHandle {
 public:
  /// Throws Error when it cannot be opened: its daemon is dead, it is another user's.
  explicit MountHandle(const MountEntry& mount);

  /// Throws Error.
  mount_control::Status status() const;

  /// Throws Error.
  void set(const mount_control::Change& change) const;

 private:
  void call(unsigned command, void* argument, const char* doing) const;

  std::string path_;
  UniqueFd fd_;
};

}  // namespace rdmablk::cli
