#include "initiator/copy/file_map.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>

#include "common/protocol/io_messages.h"

namespace rdmablk::copy {
namespace {

using protocol::Extent;

/// Where the next data, or the next hole, begins; `end` when there is none before.
std::uint64_t find(int fd, std::uint64_t from, int what, std::uint64_t end) noexcept {
  const off_t found = ::lseek(fd, static_cast<off_t>(from), what);
  if (found >= 0) return std::min(static_cast<std::uint64_t>(found), end);
  if (errno == ENXIO) return end;         // there is no more data
  return what == SEEK_DATA ? from : end;  // it cannot tell: all is data
}

}  // namespace

int map_file(int fd, initiator::Request& request) noexcept {
  const std::size_t room = std::min<std::size_t>(request.extents, protocol::kMaxExtents);
  if (room == 0) return EINVAL;
  auto* const extents = new (request.data) Extent[room];
  const std::uint64_t end = request.offset + request.length;
  std::uint64_t at = request.offset;
  std::uint32_t count = 0;
  while (at < end && count < room) {
    const std::uint64_t data = find(fd, at, SEEK_DATA, end);
    const bool is_hole = data > at;
    const std::uint64_t next = is_hole ? data : find(fd, at, SEEK_HOLE, end);
    if (next <= at) return EIO;  // the file is being changed
    extents[count++] = {next - at, is_hole};
    at = next;
  }
  request.extents = count;
  return 0;
}

}  // namespace rdmablk::copy
