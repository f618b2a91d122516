#include "initiator/copy/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/error.h"

namespace rdmablk::copy {
namespace {

/// The longest pattern, in bytes.
constexpr std::size_t kMaxPattern = 4096;

/// SplitMix64: scatters the bits of a number over all of another.
std::uint64_t scatter(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

[[noreturn]] void refuse(const std::string& option, const std::string& text) {
  throw UsageError(fmt::format(
      "{} takes bytes in hexadecimal, two digits each, up to {} of them, such as deadbeef, not "
      "'{}'",
      option, kMaxPattern, text));
}

}  // namespace

void Pattern::fill(std::span<std::byte> memory, std::uint64_t position) const noexcept {
  if (bytes_.empty()) {
    randomize(memory, position);
  } else {
    repeat(memory, position);
  }
}

void Pattern::repeat(std::span<std::byte> memory, std::uint64_t position) const noexcept {
  if (bytes_.size() == 1) {
    std::memset(memory.data(), std::to_integer<int>(bytes_.front()), memory.size());
    return;
  }
  auto from = static_cast<std::size_t>(position % bytes_.size());
  while (!memory.empty()) {
    const std::size_t count = std::min(memory.size(), bytes_.size() - from);
    std::memcpy(memory.data(), bytes_.data() + from, count);
    memory = memory.subspan(count);
    from = 0;
  }
}

void Pattern::randomize(std::span<std::byte> memory, std::uint64_t position) const noexcept {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const std::uint64_t start = scatter(seed_);
  while (!memory.empty()) {
    const std::uint64_t word = scatter(start ^ (position / kWord));
    const auto from = static_cast<std::size_t>(position % kWord);
    const std::size_t count = std::min(memory.size(), kWord - from);
    std::memcpy(memory.data(), reinterpret_cast<const std::byte*>(&word) + from, count);
    memory = memory.subspan(count);
    position += count;
  }
}

std::vector<std::byte> read_hex(const std::string& option, const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with("0x") || rest.starts_with("0X")) rest.remove_prefix(2);
  std::string digits(rest);
  std::erase(digits, ' ');
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() / 2 > kMaxPattern) {
    refuse(option, text);
  }
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_value(digits[i]);
    const int low = digit_value(digits[i + 1]);
    if (high < 0 || low < 0) refuse(option, text);
    bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return bytes;
}

}  // namespace rdmablk::copy
