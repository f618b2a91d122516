#pragma once

#include <new>

#include "common/protocol/io_messages.h"
#include "initiator/request.h"

namespace rdmablk::initiator {

/// Answers a map request of an image without holes. @pre request.length > 0
inline void map_as_data(Request& request) noexcept {
  new (request.data) protocol::Extent{request.length, false};
  request.extents = 1;
}

}  // namespace rdmablk::initiator
