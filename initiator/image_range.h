#pragma once

#include <cerrno>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// Whether a request lies within an image of so many bytes. It may have become smaller since the
/// request was made.
inline bool is_within(const Request& request, std::uint64_t size) noexcept {
  return request.length <= size && request.offset <= size - request.length;
}

/// How one ends that does not.
inline int error_past_end(const Request& request) noexcept {
  return changes_data(request) ? ENOSPC : EIO;
}

}  // namespace rdmablk::initiator
