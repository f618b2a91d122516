#pragma once

#include <string>
#include <string_view>

#include "initiator/cli/mapping/map_place.h"
#include "initiator/cli/mapping/maptab.h"

namespace rdmablk::cli::mapping {

/// Whether the program was started as systemd's generator (systemd.generator(7)).
/// @param name its argv[0].
bool is_map_generator(std::string_view name);

/// Tells systemd of the lines of maptab: each is an instance of rdmablk-map@.service that is wanted
/// at boot, unless it is noauto, and is started when a mount needs one of the device's names.
/// @param directory where units are generated. Throws SystemError.
void generate_units(const Maptab& table, const MapRoots& roots, const std::string& directory);

/// Tells systemd that exports which fstab mounts are mounted after a target of this machine has
/// started, and so unmounted before it ends, lest they wait for it while the machine goes down.
/// @param directory where units are generated. Throws SystemError.
void order_mounts(const std::string& fstab, const std::string& directory);

/// The generator's main part: of /etc/rdmablk/maptab, or the file that the environment names as
/// RDMABLK_MAPTAB, and of /etc/fstab. Complaints go to standard error. @return the exit status.
int run_map_generator(int argc, char** argv) noexcept;

}  // namespace rdmablk::cli::mapping
