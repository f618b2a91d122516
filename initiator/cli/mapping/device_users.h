#pragma once

#include <string>
#include <vector>

namespace rdmablk::cli::mapping {

/// Who uses a block device, each in words for people: "it is mounted on /mnt/x", "process 12 (dd)
/// has it open", "dm-0 is on it". Of other mount namespaces it does not see the mounts.
/// @param device "loop3".
std::vector<std::string> device_users(const std::string& device);

/// The same, once those that open a device for a moment, as udev does, have had the time to close
/// it.
std::vector<std::string> lasting_users(const std::string& device);

}  // namespace rdmablk::cli::mapping
