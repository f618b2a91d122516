#include "common/memory_mapping.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk {

std::size_t page_size() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

MemoryMapping MemoryMapping::map(std::size_t bytes, int flags, int fd) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (memory == MAP_FAILED) {
    throw SystemError(fmt::format("map {} of memory", format_size(bytes)), errno);
  }
  return {static_cast<std::byte*>(memory), bytes};
}

MemoryMapping MemoryMapping::anonymous(std::size_t bytes) {
  MemoryMapping mapping = map(round_up(bytes, page_size()), MAP_PRIVATE | MAP_ANONYMOUS, -1);
  ::madvise(mapping.data(), mapping.size(), MADV_DONTFORK);
  return mapping;
}

MemoryMapping MemoryMapping::shared(int fd, std::size_t bytes) {
  return map(bytes, MAP_SHARED, fd);
}

MemoryMapping::~MemoryMapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

MemoryMapping::MemoryMapping(MemoryMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MemoryMapping& MemoryMapping::operator=(MemoryMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace rdmablk
