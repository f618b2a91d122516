#include "initiator/copy/hex_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace rdmablk::copy {

std::string HexDump::add(std::span<const std::byte> bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kLine - length_);
    std::copy_n(bytes.begin(), count, line_.begin() + static_cast<std::ptrdiff_t>(length_));
    length_ += count;
    bytes = bytes.subspan(count);
    if (length_ == kLine) add_line(text);
  }
  return text;
}

std::string HexDump::finish() {
  std::string text;
  if (length_ > 0) {
    write_line(text);
    offset_ += length_;
    length_ = 0;
  } else if (!has_last_) {
    return text;
  }
  fmt::format_to(std::back_inserter(text), "{:08x}\n", offset_);
  return text;
}

void HexDump::add_line(std::string& text) {
  if (squeezes_ && has_last_ && line_ == last_) {
    if (!is_squeezing_) text += "*\n";
    is_squeezing_ = true;
  } else {
    is_squeezing_ = false;
    write_line(text);
  }
  last_ = line_;
  has_last_ = true;
  offset_ += kLine;
  length_ = 0;
}

void HexDump::write_line(std::string& text) const {
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{:08x} ", offset_);
  for (std::size_t i = 0; i < kLine; ++i) {
    if (i % 8 == 0) text += ' ';
    if (i < length_) {
      fmt::format_to(out, "{:02x} ", std::to_integer<unsigned>(line_[i]));
    } else {
      text += "   ";
    }
  }
  text += " |";
  for (std::size_t i = 0; i < length_; ++i) {
    const char c = std::to_integer<char>(line_[i]);
    text += c >= ' ' && c <= '~' ? c : '.';
  }
  text += "|\n";
}

}  // namespace rdmablk::copy
