#include "initiator/cli/mapping/map_state.h"

#include "common/daemon_marker.h"
#include "common/mount_table.h"
#include "initiator/cli/mapping/loop_device.h"

namespace rdmablk::cli::mapping {

bool has_device(const MapRoots& roots, const MapRecord& record) {
  const auto file = loop_backing_file(record.device);
  if (!file) return false;
  const std::string image = MapPlace(roots, record.uri).image();
  // A file that is a mount taken out of sight is "/".
  return *file == image || (*file == "/" && !mounted_at(image));
}

MapState state_of(const MapRoots& roots, const MapRecord& record) {
  if (!has_device(roots, record)) return MapState::incomplete;
  const auto mount = mounted_at(MapPlace(roots, record.uri).image());
  const bool is_served = mount && MountDaemon::find(mount->device);
  return is_served ? MapState::ready : MapState::dead;
}

const char* state_name(MapState state) {
  switch (state) {
    case MapState::ready:
      return "ready";
    case MapState::dead:
      return "dead";
    case MapState::incomplete:
      return "incomplete";
  }
  return "unknown";
}

}  // namespace rdmablk::cli::mapping
