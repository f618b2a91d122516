#pragma once

#include <string>

#include "common/mount_control.h"
#include "common/mount_table.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// "connected", "reconnecting", "failing", "lost".
const char* phase_name(mount_control::Phase phase);

/// The timeouts of a mount and how its connection is doing, for people.
std::string timeouts_text(const MountEntry& mount, const mount_control::Status& status);

/// The same as `rdmablk timeouts --json` prints it; null in place of a time: never.
Json timeouts_json(const MountEntry& mount, const mount_control::Status& status);

}  // namespace rdmablk::cli
