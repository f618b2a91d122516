#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/use_report.h"
#include "initiator/cli/json.h"
#include "initiator/cli/mounts_report.h"

namespace rdmablk::cli {

/// An export or a mount at one moment.
struct TopItem {
  std::string name;   ///< of the export, or the mount point
  std::string state;  ///< for people: "2 readers, 1 writer"; "connected"
  std::optional<std::uint64_t> size;
  std::optional<std::uint64_t> in_flight;
  std::optional<protocol::Use> use;  ///< nothing: it does not say
};

/// All that there is at one moment.
struct TopSample {
  std::chrono::steady_clock::time_point at{};
  std::vector<TopItem> exports;
  std::vector<TopItem> mounts;
  std::vector<TopItem> paths;  ///< of the mounts that have several; "/mnt over HOST:PORT"
  std::string target_problem;  ///< why there are no exports; empty: the target answered
};

/// The exports that a target tells of. @param exports of its reply; nothing of it need be as
/// expected.
std::vector<TopItem> top_exports(const Json& exports);

std::vector<TopItem> top_mounts(const std::vector<MountReport>& mounts);

/// The paths of those that have several.
std::vector<TopItem> top_paths(const std::vector<MountReport>& mounts);

}  // namespace rdmablk::cli
