#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "common/mount_control.h"
#include "common/mount_table.h"

namespace rdmablk::cli {

/// What a mount said of itself, or why it said nothing.
struct MountAnswer {
  enum class Kind {
    answered,
    silent,         ///< its rdmablk-fuse does not run, or is stuck
    dead,           ///< its rdmablk-fuse has died
    not_permitted,  ///< it is another user's
    other_version,  ///< its rdmablk-fuse does not know the question
    failed,
  };

  Kind kind = Kind::silent;
  int error = 0;  ///< an errno value; of one that failed
  // Of one that answered.
  mount_control::Status status{};
  mount_control::Activity activity{};
  mount_control::Use use{};      ///< its version is 0 when its rdmablk-fuse does not count
  mount_control::Paths paths{};  ///< the same when it does not know of paths
};

/// Asks mounts how they are doing, all at once, each by a process of its own: one that does not
/// answer holds whoever asks, and not even SIGKILL frees that. Not for programs with threads or
/// RDMA devices.
/// @param time how long to wait for answers. @param change to be made afterwards, if any.
/// @return an answer for each mount, in their order. Throws SystemError.
std::vector<MountAnswer> probe_mounts(std::span<const MountEntry> mounts,
                                      std::chrono::milliseconds time,
                                      const std::optional<mount_control::Change>& change = {});

}  // namespace rdmablk::cli
