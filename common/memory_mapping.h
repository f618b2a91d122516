#pragma once

#include <cstddef>
#include <span>

namespace rdmablk {

/// Owns pages mapped with mmap(2).
class MemoryMapping {
 public:
  MemoryMapping() noexcept = default;

  /// Maps private anonymous zeroed memory of at least `bytes` (rounded up to pages), which a fork
  /// does not share with the child (MADV_DONTFORK: a device writes to it). Throws SystemError.
  static MemoryMapping anonymous(std::size_t bytes);

  /// Maps `bytes` of a file shared, for reading and writing, from its start. Throws SystemError.
  static MemoryMapping shared(int fd, std::size_t bytes);

  ~MemoryMapping();
  MemoryMapping(MemoryMapping&& other) noexcept;
  MemoryMapping& operator=(MemoryMapping&& other) noexcept;
  MemoryMapping(const MemoryMapping&) = delete;
  MemoryMapping& operator=(const MemoryMapping&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::span<std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  MemoryMapping(std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}
  static MemoryMapping map(std::size_t bytes, int flags, int fd);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The size of a page of memory, in bytes.
std::size_t page_size();

/// Rounds up to a multiple of `unit`, a power of two.
constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

}  // namespace rdmablk
