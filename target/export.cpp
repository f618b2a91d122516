#include "target/export.h"

#include <fmt/format.h>

#include "common/random.h"
#include "common/units.h"
#include "common/uuid.h"

namespace rdmablk::target {
namespace {

/// Memory has no blocks; a page is what copies best at either end.
constexpr std::uint32_t kBlockSize = 4096;

}  // namespace

Export::Export(const ExportSpec& spec, std::span<ibv_context* const> devices)
    : spec_(spec),
      uuid_(make_uuid()),
      generation_(random_bytes<protocol::Generation>()),
      memory_(spec.name, spec.size, spec.huge_page) {
  for (ibv_context* const device : devices) registrations_.emplace(device, register_with(device));
}

Export::Registrations Export::register_with(ibv_context* device) const {
  using protocol::Access;
  Registrations made{Registration(device, memory_.bytes(), spec_.chunk, Access::read_only), {}};
  if (!spec_.read_only) {
    made.read_write.emplace(device, memory_.bytes(), spec_.chunk, Access::read_write);
  }
  return made;
}

Offer Export::offer(ibv_context* device) const {
  const auto grant_of = [](const Registration& registration) {
    return Grant{registration.table(), &registration.protection_domain()};
  };
  const Registrations& registrations = registrations_.at(device);
  Offer offer;
  offer.info.name = spec_.name;
  offer.info.uuid = uuid_;
  offer.info.kind = spec_.kind;
  offer.info.read_only = spec_.read_only;
  offer.info.block_size = kBlockSize;
  offer.info.size = spec_.size;
  offer.generation = generation_;
  offer.read_only = grant_of(registrations.read_only);
  if (registrations.read_write) offer.read_write = grant_of(*registrations.read_write);
  return offer;
}

std::string Export::describe() const {
  const auto chunks = chunk_count(spec_.size, spec_.chunk);
  return fmt::format(
      "export '{}': {} of memory{}{} in {} chunk{}, uuid {}", spec_.name, format_size(spec_.size),
      spec_.huge_page != 0 ? fmt::format(" in huge pages of {}", format_size(spec_.huge_page)) : "",
      spec_.read_only ? ", read-only," : "", chunks, chunks == 1 ? "" : "s", format_uuid(uuid_));
}

}  // namespace rdmablk::target
