#pragma once

#include <string>

#include "initiator/cli/mapping/map_place.h"
#include "initiator/cli/mapping/map_record.h"

namespace rdmablk::cli::mapping {

/// How a map is, by what the kernel says.
enum class MapState {
  ready,       ///< all of it is there
  dead,        ///< the device is there, but its rdmablk-fuse has died: it answers with errors
  incomplete,  ///< what is left of a map that was not finished, or taken away in part
};

MapState state_of(const MapRoots& roots, const MapRecord& record);

/// "ready", ...
const char* state_name(MapState state);

/// Whether the device of a record is the map's, and not another's that got its number.
bool has_device(const MapRoots& roots, const MapRecord& record);

}  // namespace rdmablk::cli::mapping
