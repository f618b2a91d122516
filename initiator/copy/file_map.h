#pragma once

#include "initiator/request.h"

namespace rdmablk::copy {

/// Answers a request of the kind map by lseek(2), SEEK_DATA and SEEK_HOLE. What cannot be asked (a
/// block device) is data.
/// @return 0 or an errno value.
int map_file(int fd, initiator::Request& request) noexcept;

}  // namespace rdmablk::copy
