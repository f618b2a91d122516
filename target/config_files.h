#pragma once

#include <string>
#include <vector>

#include "target/config_error.h"

namespace rdmablk::target {

/// The most drop-ins that a configuration has.
inline constexpr std::size_t kMaxDropIns = 4096;

/// The directory of a configuration file's drop-ins: /etc/rdmablk/target.d for
/// /etc/rdmablk/target.toml.
std::string drop_in_directory(const std::string& config);

/// The drop-ins that there are: what ends in .toml and does not begin with a dot, in order of name.
/// @param complaints gets why the directory cannot be read; that there is none is no fault.
std::vector<std::string> list_drop_ins(const std::string& config, Complaints& complaints);

/// The whole content of a configuration file, which must be a regular file that not everybody may
/// write to.
/// @param complaints gets what is wrong with the file; the content is empty then.
std::string read_config_file(const std::string& path, Complaints& complaints);

}  // namespace rdmablk::target
