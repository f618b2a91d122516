#pragma once

#include <optional>
#include <string>
#include <vector>

#include "initiator/cli/mapping/map_place.h"
#include "initiator/cli/mapping/map_record.h"

namespace rdmablk::cli::mapping {

/// The map that somebody names: by its device, one of its links, its image, its URI, or its name.
/// @return nothing when there is none. Throws UsageError for a URI that is none.
std::optional<MapRecord> find_map(const MapRoots& roots, const std::string& what);

/// Says that there is none.
[[noreturn]] void fail_not_mapped(const std::string& what);

/// Takes a map away, also one that is incomplete, or whose rdmablk-fuse has died: flushes the
/// device, takes its file and its names from it, unmounts, and waits for the end of rdmablk-fuse.
/// @return lines for the user: what may be lost. Throws Error when it is in use, or cannot be
/// flushed; all of it is there still, then.
std::vector<std::string> unmap(const MapRoots& roots, const MapRecord& record);

/// Takes a map away whatever uses it; what was not flushed is lost, and does not wait for the
/// target. Its users get errors.
/// @return lines for the user: who used it.
std::vector<std::string> unmap_by_force(const MapRoots& roots, const MapRecord& record);

/// Takes away what is left of a map that nobody uses. For who has its lock.
void remove_unused(const MapRoots& roots, const MapRecord& record);

}  // namespace rdmablk::cli::mapping
