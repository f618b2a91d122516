#pragma once

#include <string>

#include "common/mount_table.h"

namespace rdmablk::cli {

/// Whether a mount is one of rdmablk-fuse, as far as the table says.
bool is_rdmablk_mount(const MountEntry& mount);

/// Finds the mount of rdmablk-fuse that a user names. Neither a dead mount nor one that hangs is in
/// its way. Throws Error when there is none at that path.
/// @param path absolute or relative; may be a symbolic link.
/// @param doing what is wanted of it, for the message: "unmount".
MountEntry find_rdmablk_mount(const std::string& path, const std::string& doing);

/// Takes a mount away (umount2(2)); with fusermount3(1) for users who may not. Throws Error, which
/// for a mount in use says how to find who uses it.
/// @param lazy take it out of sight now, and away once nobody uses it any more.
void unmount(const MountEntry& mount, bool lazy);

}  // namespace rdmablk::cli
