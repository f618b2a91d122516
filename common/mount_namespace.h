#pragma once

#include <string>

namespace rdmablk {

/// Goes to another mount namespace (setns(2)), as helpers of mount(8) and umount(8) do when told
/// -N. For a process with one thread. Throws SystemError.
/// @param name_space the number of a process that is there, or a file that stands for it.
void enter_mount_namespace(const std::string& name_space);

}  // namespace rdmablk
