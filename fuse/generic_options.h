#pragma once

#include <string_view>

namespace rdmablk::fuse {

/// Options that mount(8) and fstab(5) have for every file system.
enum class GenericOption {
  none,       ///< it is none of them
  ignored,    ///< other programs act on it, or it is so anyway
  passed_on,  ///< the kernel is told
};

/// What a mount option without its value is.
/// @param has_value whether it was given one: "comment=x".
GenericOption generic_option(std::string_view name, bool has_value);

/// mount(2)'s flag for an option that is passed on, 0 for any other.
unsigned long mount_flag(std::string_view name);

/// Whether an option is one that the kernel shows of a FUSE mount. mount(8) hands them back when it
/// is to change a mount that fstab does not know.
bool is_shown_by_kernel(std::string_view name);

}  // namespace rdmablk::fuse
