#pragma once

#include <cstddef>

namespace rdmablk::target {

/// Addresses that are kept free for memory that is to grow without moving: what is mapped there
/// (MAP_FIXED) is unmapped with them.
class ReservedAddresses {
 public:
  ReservedAddresses() = default;

  /// @param bytes that are wanted; fewer when they would be much of what there are. @param least
  /// bytes that are needed. @param alignment of the first, a power of two and at least a page.
  /// Throws SystemError.
  ReservedAddresses(std::size_t bytes, std::size_t least, std::size_t alignment);
  ~ReservedAddresses();
  ReservedAddresses(ReservedAddresses&& other) noexcept;
  ReservedAddresses& operator=(ReservedAddresses&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

  /// Makes a part free of what is mapped there, for later. If that cannot be, what comes from there
  /// on is given up.
  void take_back(std::size_t offset) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace rdmablk::target
