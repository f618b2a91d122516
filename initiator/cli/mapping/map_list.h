#pragma once

#include <span>
#include <string>

#include "initiator/cli/json.h"
#include "initiator/cli/mapping/map_record.h"
#include "initiator/cli/mapping/map_state.h"

namespace rdmablk::cli::mapping {

/// A map as it is shown.
struct ShownMap {
  MapRecord record;
  MapState state = MapState::ready;
  std::uint64_t size = 0;  ///< of the device, bytes
  std::string link;
};

/// Looks at what the kernel says of a map; does not ask the map.
ShownMap show(const MapRoots& roots, const MapRecord& record);

/// A table for people.
std::string map_list_text(std::span<const ShownMap> maps);

/// One map, and all of them, as --json prints them.
Json map_json(const ShownMap& map);
Json map_list_json(std::span<const ShownMap> maps);

}  // namespace rdmablk::cli::mapping
