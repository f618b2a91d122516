#pragma once

#include <string>
#include <string_view>

namespace rdmablk::cli::mapping {

/// A path as systemd writes it in the name of a unit (systemd-escape --path):
/// "/dev/rdmablk/by-name/x" is "dev-rdmablk-by\x2dname-x".
/// @param path absolute, without "." and "..".
std::string escape_path(std::string_view path);

}  // namespace rdmablk::cli::mapping
