#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdmablk {

/// A line of /proc/self/mountinfo (proc(5)).
struct MountEntry {
  std::string device;  ///< "major:minor", of this mount's file system alone
  std::string path;    ///< where it is mounted
  std::string type;    ///< "fuse.rdmablk"
  std::string source;  ///< the URI, or what the option fsname says
};

/// Reads the text of a mountinfo file; lines that make no sense are left out.
std::vector<MountEntry> parse_mount_table(std::string_view text);

/// The mounts of this process's mount namespace, in the order in which they were made. Throws
/// SystemError.
std::vector<MountEntry> read_mount_table();

/// What is mounted at a path in this process's mount namespace, the uppermost if there are several.
/// Looks at the table alone, thus is safe where the mount is dead or hangs.
/// @param path absolute and canonical. Throws SystemError.
std::optional<MountEntry> mounted_at(const std::string& path);

}  // namespace rdmablk
