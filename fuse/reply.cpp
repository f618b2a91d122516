#include "fuse/reply.h"

#include <cerrno>

#include "common/protocol/io_messages.h"
#include "fuse/hole_search.h"

namespace rdmablk::fuse {

using initiator::Operation;

void reply(Slot& slot) noexcept {
  if (slot.error != 0) return reply_error(slot, slot.error);
  const fuse_req_t request = slot.take_request();
  if (slot.operation == Operation::read) {
    fuse_reply_buf(request, reinterpret_cast<const char*>(slot.data), slot.length);
  } else if (slot.operation == Operation::write) {
    fuse_reply_write(request, slot.length);
  } else {
    fuse_reply_err(request, 0);
  }
}

void reply_error(Slot& slot, int error) noexcept {
  fuse_reply_err(slot.take_request(), error);
}

bool reply_to_seek(Slot& slot) noexcept {
  // After ENOSYS the kernel takes all for data, without asking again.
  if (slot.error != 0) {
    reply_error(slot, slot.error == EOPNOTSUPP ? ENOSYS : slot.error);
    return true;
  }
  const auto* map = reinterpret_cast<const protocol::Extent*>(slot.data);
  const std::uint64_t end = slot.offset + slot.length;
  SearchResult result{.is_found = slot.seeks_hole, .offset = end};
  if (slot.extents > 0) {
    result = search({map, slot.extents}, slot.offset, slot.seeks_hole);
    if (!result.is_found && result.offset < end) {
      slot.offset = result.offset;
      slot.length = end - result.offset;
      slot.extents = protocol::kMaxExtents;
      return false;
    }
    result.is_found = result.is_found || slot.seeks_hole;
  }
  if (result.is_found) {
    fuse_reply_lseek(slot.take_request(), static_cast<off_t>(result.offset));
  } else {
    reply_error(slot, ENXIO);
  }
  return true;
}

}  // namespace rdmablk::fuse
