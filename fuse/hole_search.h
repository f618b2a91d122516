#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "common/protocol/io_messages.h"

namespace rdmablk::fuse {

/// How far a search for a hole, or for data, came.
struct SearchResult {
  bool is_found = false;
  std::uint64_t offset = 0;  ///< where it is; or where to go on
};

/// Looks through a piece of an image's map (lseek(2), SEEK_HOLE and SEEK_DATA).
/// @param offset where the map begins.
SearchResult search(std::span<const protocol::Extent> map, std::uint64_t offset,
                    bool wants_hole) noexcept;

}  // namespace rdmablk::fuse
