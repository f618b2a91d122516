#pragma once

#include <string>

#include "common/mount_table.h"
#include "initiator/cli/mount_probe.h"

namespace rdmablk::cli {

/// Takes a mount away whatever its state: busy, its target away, its daemon stopped or dead.
/// Requests that wait end with an error at once, and programs that have it open get errors from
/// then on. Never waits for the target. Throws Error when it is not permitted.
/// @return what became of it, for people, one line; empty when nothing needs to be said.
std::string unmount_by_force(const MountEntry& mount);

/// What may have been lost, and what failed, for people; empty when nothing did.
/// @param answer of the mount, before it was taken away. @param was_busy it was in use.
std::string forced_unmount_note(const MountAnswer& answer, bool was_busy);

}  // namespace rdmablk::cli
