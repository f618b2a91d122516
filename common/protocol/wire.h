#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

/// Little-endian fields in bounded buffers.
namespace rdmablk::protocol {

template <typename T>
concept WireInteger = std::is_unsigned_v<T> && !std::is_same_v<T, bool>;

/// Writes fields one after another. Writing past the end writes nothing and makes ok() false.
class WireWriter {
 public:
  explicit WireWriter(std::span<std::byte> buffer) noexcept : buffer_(buffer) {}

  template <WireInteger T>
  void put(T value) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes[i] = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
    put(std::span<const std::byte>(bytes));
  }

  void put(std::span<const std::byte> bytes) noexcept {
    if (!room(bytes.size())) return;
    if (!bytes.empty()) std::memcpy(buffer_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }

  /// A text in a field of fixed size, padded with zeroes; one that is too long makes ok() false.
  void put_text(std::string_view text, std::size_t size) noexcept {
    if (text.size() > size) ok_ = false;
    if (!ok_) return;
    put(std::as_bytes(std::span(text)));
    pad(size - text.size());
  }

  /// Bytes of zero, reserved for later.
  void pad(std::size_t size) noexcept {
    if (!room(size)) return;
    std::memset(buffer_.data() + used_, 0, size);
    used_ += size;
  }

  bool ok() const noexcept { return ok_; }
  std::size_t size() const noexcept { return used_; }

 private:
  bool room(std::size_t size) noexcept {
    ok_ = ok_ && size <= buffer_.size() - used_;
    return ok_;
  }

  std::span<std::byte> buffer_;
  std::size_t used_ = 0;
  bool ok_ = true;
};

/// Reads fields one after another. Reading past the end gives zeroes and makes ok() false.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> buffer) noexcept : buffer_(buffer) {}

  template <WireInteger T>
  void get(T& value) noexcept {
    std::array<std::byte, sizeof(T)> bytes{};
    get(std::span<std::byte>(bytes));
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i)
      result |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    value = static_cast<T>(result);
  }

  void get(std::span<std::byte> bytes) noexcept {
    if (!room(bytes.size())) return;
    if (!bytes.empty()) std::memcpy(bytes.data(), buffer_.data() + used_, bytes.size());
    used_ += bytes.size();
  }

  /// A text in a field of fixed size, up to its first zero.
  void get_text(std::string& text, std::size_t size) {
    text.clear();
    if (!room(size)) return;
    const auto* start = reinterpret_cast<const char*>(buffer_.data() + used_);
    text.assign(start, ::strnlen(start, size));
    used_ += size;
  }

  void skip(std::size_t size) noexcept {
    if (room(size)) used_ += size;
  }

  std::span<const std::byte> rest() const noexcept { return buffer_.subspan(used_); }
  bool ok() const noexcept { return ok_; }

 private:
  bool room(std::size_t size) noexcept {
    ok_ = ok_ && size <= buffer_.size() - used_;
    return ok_;
  }

  std::span<const std::byte> buffer_;
  std::size_t used_ = 0;
  bool ok_ = true;
};

}  // namespace rdmablk::protocol
