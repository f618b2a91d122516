#include "target/export.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>

#include "common/error.h"
#include "common/random.h"
#include "common/units.h"
#include "common/uuid.h"
#include "target/fixed_identity.h"
#include "target/volatile_identity.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::ExportKind;

/// Memory has no blocks; a page is what copies best at either end.
constexpr std::uint32_t kBlockSize = 4096;

std::string describe_memory(const ExportSpec& spec) {
  const auto chunks = chunk_count(spec.size, spec.chunk);
  return fmt::format(
      "{} of memory{} in {} chunk{}", format_size(spec.size),
      spec.huge_page != 0 ? fmt::format(" in huge pages of {}", format_size(spec.huge_page)) : "",
      chunks, chunks == 1 ? "" : "s");
}

}  // namespace

Export::Export(const ExportSpec& spec, std::unique_ptr<FileStore> store,
               std::span<ibv_context* const> devices, const Options& options)
    : spec_(spec), options_(options), store_(std::move(store)) {
  identify();
  if (spec_.kind == ExportKind::file) return;
  memory_ = std::make_unique<MemoryBacking>(spec_.name, spec_.size, spec_.huge_page);
  if (store_) resident_ = std::make_unique<ResidentStore>(spec_.name, *store_, memory_->bytes());
  for (ibv_context* const device : devices) registrations_.emplace(device, register_with(device));
}

void Export::identify() {
  if (!store_) {
    identity_ = std::make_unique<VolatileIdentity>();
    return;
  }
  const BackingFile& file = store_->file();
  const FileFingerprint print = fingerprint_of(file.fd(), file.path());
  if (spec_.read_only) {
    identity_ = std::make_unique<FixedIdentity>(print, spec_.size);
    return;
  }
  FoundContent content{print.incarnation, spec_.size, options_.boot, {}};
  if (spec_.kind == ExportKind::resident) content.memory = random_bytes<MemoryId>();
  auto stored = std::make_unique<StoredIdentity>(*options_.state, spec_.name, file.path(),
                                                 print.file_name(), content);
  stored_ = stored.get();
  identity_ = std::move(stored);
  store_->flushes().tell(*identity_);
}

bool Export::settle() noexcept {
  if (resident_ && !resident_->settle()) return false;
  if (resident_ || !store_ || spec_.read_only) return true;
  if (::fdatasync(store_->file().fd()) == 0) return true;
  spdlog::error("export '{}': cannot flush {}: {}", spec_.name, store_->file().path(),
                errno_text(errno));
  identity_->mark_lost();
  return false;
}

void Export::mark_clean() {
  if (stored_ == nullptr) return;
  const BackingFile& file = store_->file();
  stored_->mark_clean(fingerprint_of(file.fd(), file.path()).incarnation);
}

Export::Registrations Export::register_with(ibv_context* device) const {
  const auto memory = memory_->bytes();
  Registrations made{Registration(device, memory, spec_.chunk, Access::read_only), {}};
  if (!spec_.read_only) {
    made.read_write.emplace(device, memory, spec_.chunk, Access::read_write);
  }
  return made;
}

Offer Export::offer(ibv_context* device) const {
  Offer offer;
  offer.info.name = spec_.name;
  offer.info.uuid = identity_->uuid();
  offer.info.kind = spec_.kind;
  offer.info.read_only = spec_.read_only;
  offer.info.block_size = kBlockSize;
  offer.info.size = spec_.size;
  offer.identity = identity_.get();
  if (!spec_.read_only) offer.read_write.emplace();
  if (memory_) add_grants(offer, device);
  if (store_) add_file(offer);
  return offer;
}

void Export::add_grants(Offer& offer, ibv_context* device) const {
  const auto grant_of = [](const Registration& registration) {
    return Grant{registration.table(), &registration.protection_domain()};
  };
  const Registrations& registrations = registrations_.at(device);
  offer.read_only = grant_of(registrations.read_only);
  if (registrations.read_write) offer.read_write = grant_of(*registrations.read_write);
}

void Export::add_file(Offer& offer) const {
  const BackingFile& file = store_->file();
  offer.info.is_direct = file.is_direct();
  offer.info.needs_flush = !spec_.read_only;
  offer.info.can_discard = !spec_.read_only && spec_.kind == ExportKind::file;
  if (spec_.kind == ExportKind::file) offer.info.block_size = file.block_size();
  offer.origin = options_.show_path ? file.path() : std::string(file.base_name());
  offer.store = store_.get();
  offer.resident = resident_.get();
  offer.budget = options_.budget;
}

std::string Export::describe() const {
  std::string what;
  if (memory_) what = describe_memory(spec_);
  if (store_) {
    if (!memory_) what = format_size(spec_.size);
    what += fmt::format(" {} {}", memory_ ? "loaded from" : "in", store_->file().describe());
  }
  const bool is_to_tell = spec_.read_only && !store_;  // a file tells of it itself
  return fmt::format("export '{}': {}{}, uuid {}", spec_.name, what,
                     is_to_tell ? ", read-only" : "", format_uuid(identity_->uuid()));
}

}  // namespace rdmablk::target
