#pragma once

#include <string>

#include "common/uri.h"
#include "initiator/cli/mapping/map_place.h"
#include "initiator/cli/mapping/map_record.h"

namespace rdmablk::cli::mapping {

/// What is to become a block device.
struct MapRequest {
  Uri uri;
  std::string name{};     ///< another name for the device, an export's in form; may be empty
  std::string options{};  ///< of the mount, as after -o
};

/// Makes an export a block device: mounts it at its place, puts a loop device on the image, and
/// gives that its names. What is left of an earlier attempt is taken away first; when it fails,
/// nothing is left. Takes root. Throws UsageError for options that make no sense, or Error.
MapRecord map_export(const MapRoots& roots, const MapRequest& request);

}  // namespace rdmablk::cli::mapping
