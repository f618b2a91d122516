#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rdmablk::copy {

/// Writes bytes as `hexdump -C` does: lines of 16, each with its offset; those that repeat the line
/// before them become one `*`.
class HexDump {
 public:
  /// @param offset of the first byte. @param squeezes repeated lines.
  explicit HexDump(std::uint64_t offset, bool squeezes) : offset_(offset), squeezes_(squeezes) {}

  /// Goes on with more bytes, as many as there are.
  /// @return the lines that are complete.
  std::string add(std::span<const std::byte> bytes);

  /// Ends with the rest, and the offset behind the last byte.
  std::string finish();

 private:
  static constexpr std::size_t kLine = 16;

  void add_line(std::string& text);
  void write_line(std::string& text) const;

  std::uint64_t offset_;  ///< of line_
  bool squeezes_;
  std::array<std::byte, kLine> line_{};
  std::size_t length_ = 0;  ///< of line_
  std::array<std::byte, kLine> last_{};
  bool has_last_ = false;
  bool is_squeezing_ = false;
};

}  // namespace rdmablk::copy
