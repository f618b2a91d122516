#include "target/reserved_addresses.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::byte* reserve(std::size_t bytes) {
  void* const place = ::mmap(nullptr, bytes, PROT_NONE, kFlags, -1, 0);
  return place == MAP_FAILED ? nullptr : static_cast<std::byte*>(place);
}

/// Whether so much leaves enough for everything else that a process maps, and for others like it:
/// some machines have 512 GiB of addresses.
bool has_room_beside(std::size_t bytes) {
  constexpr std::size_t kShare = 16;
  std::byte* const place = reserve(kShare * bytes);
  if (place == nullptr) return false;
  ::munmap(place, kShare * bytes);
  return true;
}

}  // namespace

ReservedAddresses::ReservedAddresses(std::size_t bytes, std::size_t least, std::size_t alignment) {
  least = round_up(least, alignment);
  std::size_t size = round_up(std::max(bytes, least), alignment);
  while (size > least && !has_room_beside(size)) {
    size = std::max(round_up(size / 2, alignment), least);
  }
  std::byte* const place = reserve(size + alignment);
  if (place == nullptr) {
    throw SystemError(fmt::format("reserve addresses for {} of memory", format_size(size)), errno);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  const std::size_t before = round_up(address, alignment) - address;
  if (before > 0) ::munmap(place, before);
  data_ = place + before;
  size_ = size;
  if (before < alignment) ::munmap(data_ + size_, alignment - before);
}

ReservedAddresses::~ReservedAddresses() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

ReservedAddresses::ReservedAddresses(ReservedAddresses&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

ReservedAddresses& ReservedAddresses::operator=(ReservedAddresses&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void ReservedAddresses::take_back(std::size_t offset) noexcept {
  if (offset >= size_) return;
  // Another thread may be mapping something, and must not be given a place in between.
  if (::mmap(data_ + offset, size_ - offset, PROT_NONE, kFlags | MAP_FIXED, -1, 0) != MAP_FAILED) {
    return;
  }
  ::munmap(data_ + offset, size_ - offset);
  size_ = offset;
}

}  // namespace rdmablk::target
