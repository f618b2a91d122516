#pragma once

#include "initiator/cli/mapping/map_place.h"
#include "initiator/cli/mapping/map_record.h"

namespace rdmablk::cli::mapping {

/// Makes the names of a device: DEV/HOST/EXPORT, DEV/by-uuid/UUID and, if it has one, by-name/NAME.
/// Where udev runs it makes the same, by what it finds in the file that is written here, and has
/// systemd know them. Throws SystemError.
void make_links(const MapRoots& roots, const MapRecord& record);

/// Writes what udev reads. To be done before the device has its file. Throws SystemError.
void write_udev_file(const MapRoots& roots, const MapRecord& record);

/// Takes all of that away, but for links that lead to another device by now.
void remove_links(const MapRoots& roots, const MapRecord& record) noexcept;

/// The device that a name leads to: "loop3"; empty when it leads nowhere.
std::string device_behind(const std::string& link);

}  // namespace rdmablk::cli::mapping
