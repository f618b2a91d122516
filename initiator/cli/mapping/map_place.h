#pragma once

#include <string>
#include <string_view>

#include "common/uri.h"

namespace rdmablk::cli::mapping {

/// Where maps have their places. Directories of root's: what is read there is trusted.
struct MapRoots {
  std::string run = "/run/rdmablk-maps";
  std::string dev = "/dev/rdmablk";

  /// What the rule of udev reads of a loop device. @param device "loop3".
  std::string udev_file(const std::string& device) const { return run + "/.udev/" + device; }

  std::string uuid_link(const std::string& uuid) const { return dev + "/by-uuid/" + uuid; }
  std::string name_link(const std::string& name) const { return dev + "/by-name/" + name; }
};

/// The places of one map: of an export that is a block device here.
struct MapPlace {
  std::string directory;  ///< RUN/HOST/EXPORT, which is there as long as the map is
  std::string link;       ///< DEV/HOST/EXPORT

  MapPlace(const MapRoots& roots, const Uri& uri);

  /// The file that the export is mounted on.
  std::string image() const { return directory + "/image"; }

  /// What is known of the map: MapRecord.
  std::string record() const { return directory + "/map.json"; }
};

/// A target as one name of a file: its host, and "@PORT" when that is not the usual one. Letters,
/// digits, '-', '_', ':' and '.' stay; all else, and what would make it another special name,
/// becomes
/// '+' and two hexadecimal digits. No two targets have the same.
std::string file_name(const HostPort& target);

}  // namespace rdmablk::cli::mapping
