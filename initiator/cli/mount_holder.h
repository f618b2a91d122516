#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace rdmablk::cli {

/// A process that still sees a mount.
struct MountHolder {
  pid_t pid;
  std::string name;
};

/// Finds a process in whose mount namespace (mount_namespaces(7)) a file system is mounted. Those
/// of other users count as far as this one may look at them.
/// @param device of the file system, "major:minor" as in /proc/self/mountinfo.
std::optional<MountHolder> find_mount_holder(const std::string& device);

/// What that means for the daemon of a mount that was taken away elsewhere.
std::string what_it_keeps(const MountHolder& holder, pid_t daemon);

}  // namespace rdmablk::cli
