#pragma once

#include <string>

namespace rdmablk::target {

/// What tells this boot of the machine from every other (random(4), boot_id). Throws SystemError.
std::string read_boot_id();

}  // namespace rdmablk::target
