#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

namespace rdmablk::fuzz {

/// A copy that ends where the bytes end, so that AddressSanitizer sees what reads on.
class ExactCopy {
 public:
  explicit ExactCopy(std::span<const std::byte> bytes)
      : size_(bytes.size()), copy_(std::make_unique<std::byte[]>(bytes.size())) {
    std::ranges::copy(bytes, copy_.get());
  }

  std::span<const std::byte> bytes() const noexcept { return {copy_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace rdmablk::fuzz
