#include "target/direct_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <optional>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

constexpr std::uint32_t kMinBlock = kSectorSize;
constexpr std::uint32_t kMaxBlock = 64 << 10;
/// What file systems take that do not say what they need: no disk has larger blocks than a page.
constexpr std::uint32_t kUsualBlock = 4096;

constexpr const char* kNoDirect = "the file system takes no direct I/O";

DirectSupport none(std::string reason) {
  return {0, std::move(reason)};
}

DirectSupport needs(std::uint32_t offset_align, std::uint32_t memory_align) {
  // Buffers start at a page, and what lies in them at multiples of the block.
  const std::uint32_t block = std::max({kMinBlock, offset_align, memory_align});
  if (memory_align > page_size() || block > kMaxBlock || !std::has_single_bit(block)) {
    return none(fmt::format("its direct I/O needs offsets at multiples of {} and memory of {}",
                            offset_align, memory_align));
  }
  return {block, {}};
}

DirectSupport needs_of_device(int fd) {
  int block = 0;
  if (::ioctl(fd, BLKSSZGET, &block) != 0) throw SystemError("ask for the block size", errno);
  return needs(static_cast<std::uint32_t>(block), 0);
}

/// What the file system says that it needs; nothing when it does not say (Linux before 6.1, and
/// some file systems still).
std::optional<DirectSupport> needs_of_file([[maybe_unused]] int fd) {
#ifdef STATX_DIOALIGN
  struct statx status {};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) != 0) return std::nullopt;
  if ((status.stx_mask & STATX_DIOALIGN) == 0) return std::nullopt;
  if (status.stx_dio_offset_align == 0) return none(kNoDirect);
  return needs(status.stx_dio_offset_align, status.stx_dio_mem_align);
#else
  return std::nullopt;
#endif
}

bool set_direct(int fd, bool on) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) throw SystemError("ask for the flags of a file", errno);
  return ::fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

/// Tries a read, on a descriptor that is switched to direct I/O.
DirectSupport probe(int fd, std::uint64_t size) {
  if (size % kUsualBlock == 0) {
    const auto memory = MemoryMapping::anonymous(kUsualBlock);
    if (::pread(fd, memory.data(), kUsualBlock, 0) == kUsualBlock) return {kUsualBlock, {}};
    return none(kNoDirect);
  }
  // A smaller block is believed only where the disk has been asked: reads of holes go to no disk.
  const off_t data = ::lseek(fd, 0, SEEK_DATA);
  if (data < 0) return none("the file system does not say what its direct I/O needs");
  const auto memory = MemoryMapping::anonymous(kMinBlock);
  const off_t start = data / kMinBlock * kMinBlock;
  if (::pread(fd, memory.data(), kMinBlock, start) == kMinBlock) return {kMinBlock, {}};
  return none(fmt::format("its size is no multiple of {}", kUsualBlock));
}

DirectSupport find_needs(int fd, std::uint64_t size) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) throw SystemError("ask for the kind of a file", errno);
  if (S_ISBLK(status.st_mode)) return needs_of_device(fd);
  const auto said = needs_of_file(fd);
  return said ? *said : probe(fd, size);
}

}  // namespace

DirectSupport enable_direct_io(int fd, std::uint64_t size) {
  if (!set_direct(fd, true)) return none(kNoDirect);
  DirectSupport found = find_needs(fd, size);
  if (found.block != 0 && size % found.block != 0) {
    found = none(fmt::format("its size is no multiple of {}", found.block));
  }
  if (found.block == 0) set_direct(fd, false);
  return found;
}

}  // namespace rdmablk::target
