#pragma once

#include <string>

#include "fuse/mount_helper.h"

namespace rdmablk::fuse {

/// `mount -o remount,...`: makes a mount read-only or writable again, and changes the kernel's
/// options of it (noatime, noexec, ...). All else stays as it was.
/// @return a line for the user when there were options that stayed as they were; mount(8) adds
/// those of fstab, so they are no error. Throws UsageError, Error.
std::string remount(const HelperCall& call);

}  // namespace rdmablk::fuse
