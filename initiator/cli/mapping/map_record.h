#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/uri.h"
#include "initiator/cli/mapping/map_place.h"

namespace rdmablk::cli::mapping {

/// What is remembered of a map, in a file of its place. It is written before what it tells of is
/// done: whoever finds it finds all that may be left of a map whose maker was killed.
struct MapRecord {
  Uri uri;
  std::string name{};    ///< another name for the device; may be empty
  std::string uuid{};    ///< of the export, as text; empty when not known yet
  std::string device{};  ///< "loop3"; empty when there is none yet
  bool read_only = false;

  /// "/dev/loop3"
  std::string device_path() const { return "/dev/" + device; }

  /// The record as text, and back. @return nothing when it is damaged.
  std::string text() const;
  static std::optional<MapRecord> parse(const std::string& text);

  /// Puts it in its place, whole or not at all. Throws SystemError.
  void write(const MapPlace& place) const;

  /// @return nothing when there is none, or it is damaged.
  static std::optional<MapRecord> read(const std::string& file);
};

/// All maps that there are, the incomplete ones too, in the order of their places.
std::vector<MapRecord> read_map_records(const MapRoots& roots);

/// Writes a small file, whole or not at all. Throws SystemError.
void write_whole(const std::string& path, const std::string& text);

}  // namespace rdmablk::cli::mapping
