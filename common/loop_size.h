#pragma once

#include <string>

namespace rdmablk {

/// Has a loop device take the size that the file behind it has now (loop(4), LOOP_SET_CAPACITY).
/// @param device "/dev/loop3". Throws SystemError.
void refresh_loop_size(const std::string& device);

/// The same for all loop devices on a file: those of `rdmablk map`, and others. Does what it is
/// permitted to, and says nothing of the rest. The kernel asks the file, so who serves that calls
/// this from a thread that nobody waits for.
/// @param path absolute, as the kernel shows it: without symbolic links.
/// @return how many there were.
unsigned refresh_loop_sizes(const std::string& path) noexcept;

}  // namespace rdmablk
