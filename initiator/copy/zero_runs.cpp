#include "initiator/copy/zero_runs.h"

#include <algorithm>
#include <cstring>

namespace rdmablk::copy {

bool is_zero(std::span<const std::byte> bytes) noexcept {
  constexpr std::size_t kFirst = 16;
  const std::size_t first = std::min(bytes.size(), kFirst);
  for (std::size_t i = 0; i < first; ++i) {
    if (bytes[i] != std::byte{0}) return false;
  }
  // The rest is zero if each byte is as the one kFirst before it, which memcmp() is fast at.
  return bytes.size() <= kFirst ||
         std::memcmp(bytes.data(), bytes.data() + kFirst, bytes.size() - kFirst) == 0;
}

Run next_run(std::span<const std::byte> bytes, std::size_t unit) noexcept {
  const auto piece = [&](std::size_t at) {
    return bytes.subspan(at, std::min(unit, bytes.size() - at));
  };
  Run run{piece(0).size(), is_zero(piece(0))};
  while (run.length < bytes.size() && is_zero(piece(run.length)) == run.is_zero) {
    run.length += piece(run.length).size();
  }
  return run;
}

}  // namespace rdmablk::copy
