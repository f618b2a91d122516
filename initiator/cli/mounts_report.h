#pragma once

#include <span>
#include <string>

#include "initiator/cli/json.h"
#include "initiator/cli/mount_probe.h"

namespace rdmablk::cli {

/// A mount of this machine, as `rdmablk mounts` shows it.
struct MountReport {
  MountEntry mount;
  MountAnswer answer;
};

/// A table for people.
std::string mounts_text(std::span<const MountReport> reports);

/// The same as `rdmablk mounts --json` prints it; null: not known.
Json mounts_json(std::span<const MountReport> reports);

}  // namespace rdmablk::cli
