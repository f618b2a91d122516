#include "fuse/hole_search.h"

namespace rdmablk::fuse {

SearchResult search(std::span<const protocol::Extent> map, std::uint64_t offset,
                    bool wants_hole) noexcept {
  for (const protocol::Extent& extent : map) {
    if (extent.is_hole == wants_hole) return {true, offset};
    offset += extent.length;
  }
  return {false, offset};
}

}  // namespace rdmablk::fuse
