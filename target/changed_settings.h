#pragma once

#include <string>
#include <vector>

#include "target/options.h"

namespace rdmablk::target {

/// The options, by their names on the command line, that differ and that a running target cannot
/// change; those of exports are not looked at.
std::vector<std::string> changed_settings(const Options& before, const Options& now);

}  // namespace rdmablk::target
