#include "target/volatile_identity.h"

#include <array>
#include <bit>

#include "common/random.h"
#include "common/uuid.h"
#include "target/generation.h"

namespace rdmablk::target {

VolatileIdentity::VolatileIdentity()
    : uuid_(make_uuid()),
      generation_(random_bytes<protocol::Generation>()),
      last_lease_(first_lease()) {}

protocol::Generation VolatileIdentity::generation() const {
  const std::scoped_lock lock(mutex_);
  return generation_;
}

void VolatileIdentity::mark_lost() noexcept {
  const std::scoped_lock lock(mutex_);
  change(generation_);
}

std::uint64_t first_lease() {
  const auto bytes = random_bytes<std::array<std::byte, sizeof(std::uint64_t)>>();
  return (std::bit_cast<std::uint64_t>(bytes) >> 2U) + 1;  // far from the end of the numbers
}

}  // namespace rdmablk::target
