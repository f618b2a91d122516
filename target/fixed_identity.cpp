#include "target/fixed_identity.h"

#include <fmt/format.h>

#include "common/error.h"

namespace rdmablk::target {

FixedIdentity::FixedIdentity(const FileFingerprint& file, std::uint64_t size)
    : uuid_(file.derive_uuid(fmt::format("{}", size))),
      generation_(file.derive_uuid(fmt::format("{} {}", size, file.changed))) {}

std::uint64_t FixedIdentity::next_lease() {
  throw Error("an export that is only read has no leases");
}

}  // namespace rdmablk::target
