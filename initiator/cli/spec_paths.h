#pragma once

#include <string>
#include <string_view>

namespace rdmablk::cli {

/// The text of an export (NAME=file:PATH,... or with save=PATH) with its paths made absolute, for a
/// target whose directory is another one. Texts that are none come back as they are.
/// @param directory where relative paths start.
std::string absolute_spec(std::string_view spec, std::string_view directory);

}  // namespace rdmablk::cli
