#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "target/backing_file.h"

namespace rdmablk::target {
namespace {

/// What is taken for data where the file changes faster than it can be asked.
constexpr std::uint64_t kStep = 4096;

/// Finds the extent that starts at `offset`, of `length` bytes at most. What is not known to be a
/// hole is data. @return an errno value.
int find_extent(int fd, std::uint64_t offset, std::uint64_t length,
                protocol::Extent& found) noexcept {
  const auto from = static_cast<off_t>(offset);
  const auto up_to = [&](off_t end) {
    return std::min(length, static_cast<std::uint64_t>(end) - offset);
  };
  const off_t hole = ::lseek(fd, from, SEEK_HOLE);
  if (hole < 0) {
    // No such notion, or somebody has shortened the file.
    if (errno != EINVAL && errno != EOPNOTSUPP && errno != ENXIO) return errno;
    found = {length, false};
    return 0;
  }
  if (hole > from) {
    found = {up_to(hole), false};
    return 0;
  }
  const off_t data = ::lseek(fd, from, SEEK_DATA);
  if (data > from) {
    found = {up_to(data), true};
  } else if (data == from) {
    found = {std::min(length, kStep), false};
  } else if (errno == ENXIO) {
    found = {length, true};
  } else {
    return errno;
  }
  return 0;
}

}  // namespace

int BackingFile::map(std::uint64_t offset, std::uint64_t length, std::span<protocol::Extent> into,
                     std::size_t& count) const noexcept {
  count = 0;
  const std::uint64_t size = size_;
  if (offset >= size) return 0;
  length = std::min(length, size - offset);
  while (length != 0) {
    protocol::Extent next{length, false};
    if (!block_device_) {
      if (const int error = find_extent(fd_.get(), offset, length, next); error != 0) return error;
    }
    if (count != 0 && into[count - 1].is_hole == next.is_hole) {
      into[count - 1].length += next.length;
    } else if (count < into.size()) {
      into[count++] = next;
    } else {
      return 0;
    }
    offset += next.length;
    length -= next.length;
  }
  return 0;
}

}  // namespace rdmablk::target
