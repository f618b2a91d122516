#include "target/file_numbers.h"

#include <sys/resource.h>

#include <algorithm>

namespace rdmablk::target {
namespace {

/// An empty place takes two pointers of each ring.
constexpr rlim_t kMost = 1U << 14;

}  // namespace

std::optional<unsigned> FileNumbers::take() noexcept {
  const auto found = std::find(taken_.begin(), taken_.end(), false);
  if (found == taken_.end()) return std::nullopt;
  *found = true;
  return static_cast<unsigned>(found - taken_.begin());
}

/// The kernel takes no larger table than the limit.
std::size_t most_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  return static_cast<std::size_t>(std::clamp<rlim_t>(limit.rlim_cur, 1, kMost));
}

}  // namespace rdmablk::target
