#pragma once

#include <optional>
#include <string>

namespace rdmablk {

/// What a file contains that the kernel makes up, in /proc or /sys, or another short one.
/// @return nothing, with errno set, when it cannot be opened or read: that of a process goes away
/// with the process, in between, too.
std::optional<std::string> read_file_text(const std::string& path);

}  // namespace rdmablk
