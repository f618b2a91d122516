#include "initiator/cli/map_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "common/error.h"
#include "initiator/lone_request.h"

namespace rdmablk::cli {

using protocol::Extent;
using protocol::kMaxExtents;

MapReader::MapReader(initiator::Image& image)
    : info_(image.info()),
      buffers_(image.make_buffers(kMaxExtents * sizeof(Extent))),
      queue_(image.make_queue(1)) {}

std::vector<Extent> MapReader::read(std::uint64_t offset, std::uint64_t length) {
  std::vector<Extent> map;
  while (length > 0) {
    for (const Extent& extent : ask(offset, length)) {
      const std::uint64_t known = std::min(extent.length, length);
      if (known == 0) break;  // the last one went on behind the range
      if (!map.empty() && map.back().is_hole == extent.is_hole) {
        map.back().length += known;
      } else {
        map.push_back({known, extent.is_hole});
      }
      offset += known;
      length -= known;
    }
  }
  return map;
}

/// @return at least one extent; valid until asked again.
std::span<const Extent> MapReader::ask(std::uint64_t offset, std::uint64_t length) {
  auto* const extents = new (buffers_->bytes().data()) Extent[kMaxExtents];
  initiator::Request request;
  request.operation = initiator::Operation::map;
  request.offset = offset;
  request.length = length;
  request.data = buffers_->bytes().data();
  request.keys = buffers_->keys();
  request.extents = kMaxExtents;
  initiator::perform(*queue_, request);
  if (request.error != 0) {
    throw SystemError(fmt::format("map {} bytes at {} of {}", length, offset, info_.name),
                      request.error);
  }
  const std::span found(extents, std::min<std::size_t>(request.extents, kMaxExtents));
  if (found.empty() || found.front().length == 0) {
    throw Error(fmt::format("cannot map {} bytes at {} of {}: the target's answer is empty", length,
                            offset, info_.name));
  }
  return found;
}

}  // namespace rdmablk::cli
