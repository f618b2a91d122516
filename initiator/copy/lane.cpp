#include "initiator/copy/lane.h"

#include <algorithm>

#include "initiator/remote_image.h"

namespace rdmablk::copy {
namespace {

/// Bytes: a target's slots for files are so large when nothing else was asked for.
constexpr std::size_t kUsualSlot = std::size_t{128} << 10U;

/// The deepest queue that an image makes.
constexpr std::size_t kMaxDepth = 4096;

}  // namespace

unsigned queue_depth(unsigned blocks, std::size_t block_size) noexcept {
  const std::size_t pieces = std::max<std::size_t>(block_size / kUsualSlot, 1);
  return static_cast<unsigned>(std::min(blocks * pieces, kMaxDepth));
}

Lane::Lane(const Ends& ends, unsigned blocks, std::size_t block_size)
    : memory_(MemoryMapping::anonymous(blocks * block_size)),
      blocks_(blocks),
      block_size_(block_size) {
  open(Side::source, ends.source);
  open(Side::destination, ends.destination);
}

void Lane::open(Side side, const End& end) {
  Way& way = this->way(side);
  way.offset = end.offset;
  way.limit = end.limit;
  if (const auto* remote = dynamic_cast<const initiator::RemoteImage*>(end.image)) {
    way.registration = remote->register_memory(memory_.bytes());
  }
  way.queue = end.image->make_queue(queue_depth(blocks_, block_size_));
}

}  // namespace rdmablk::copy
