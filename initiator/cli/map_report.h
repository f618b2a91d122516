#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/protocol/io_messages.h"
#include "common/uri.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// Where an export holds data and where holes, from `offset` on.
struct ExportMap {
  Uri uri;
  std::uint64_t offset = 0;  ///< bytes
  std::vector<protocol::Extent> extents;
};

/// The map for people: a line for each extent, in bytes.
std::string export_map_text(const ExportMap& map);

/// The map as `rdmablk info --map --json` prints it.
Json export_map_json(const ExportMap& map);

}  // namespace rdmablk::cli
