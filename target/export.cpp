#include "target/export.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "common/counted.h"
#include "common/error.h"
#include "common/numa.h"
#include "common/random.h"
#include "common/units.h"
#include "common/uuid.h"
#include "common/verbs/context.h"
#include "target/fixed_identity.h"
#include "target/memory_identity.h"
#include "target/saved_memory.h"
#include "target/volatile_identity.h"

namespace rdmablk::target {
namespace {

using protocol::Access;
using protocol::ExportKind;

using Clock = std::chrono::steady_clock;

double in_milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// Memory has no blocks; a page is what copies best at either end.
constexpr std::uint32_t kBlockSize = 4096;

std::string describe_memory(const ExportSpec& spec) {
  return fmt::format(
      "{} of memory{} in {}", format_size(spec.size),
      spec.huge_page != 0 ? fmt::format(" in huge pages of {}", format_size(spec.huge_page)) : "",
      counted(chunk_count(spec.size, spec.chunk), "chunk"));
}

/// The NUMA node of all devices; nothing when they have none, or not the same one.
std::optional<int> node_of(std::span<ibv_context* const> devices) {
  std::optional<int> node;
  for (const ibv_context* const device : devices) {
    const auto here = device_numa_node(verbs::device_name(device));
    if (!here || (node && *node != *here)) return std::nullopt;
    node = here;
  }
  return node;
}

}  // namespace

Export::Export(const ExportSpec& spec, std::unique_ptr<FileStore> store,
               std::optional<KeptMemory> kept, std::span<ibv_context* const> devices,
               const Options& options)
    : spec_(spec), options_(options), store_(std::move(store)) {
  if (store_) file_ = fingerprint_of(store_->file().fd(), store_->file().path());
  if (!spec_.save.empty()) {
    save_place_.emplace(spec_);
    file_ = fingerprint_of(spec_.save);
  }
  if (spec_.has_file() && spec_.read_only) {
    identity_ = std::make_unique<FixedIdentity>(file_, spec_.size);
  } else if (spec_.kind == ExportKind::file) {
    identify_by_state(nullptr);
  }
  if (spec_.kind != ExportKind::file) {
    const auto start = Clock::now();
    make_memory(std::move(kept), node_of(devices));
    const auto made = Clock::now();
    if (options_.cancellation != nullptr) options_.cancellation->check();
    for (ibv_context* const device : devices) {
      registrations_.emplace(device, make_registrations(device));
    }
    editions_.publish(make_edition(spec_.size));
    spdlog::debug("export '{}': memory made in {:.1f} ms, registered in {:.1f} ms", spec_.name,
                  in_milliseconds(made - start), in_milliseconds(Clock::now() - made));
  }
  if (spec_.kind == ExportKind::file) editions_.publish(make_edition(spec_.size));
  options_.cancellation = nullptr;  // it is made
  if (!spec_.read_only && !spec_.shared) lease_ = std::make_unique<Lease>(spec_.name, *identity_);
}

/// Whether memory of an earlier process is to be served. Throws Error when it is not to be lost,
/// but cannot be.
bool Export::is_current(const MemoryRecord& record) const {
  if (!is_backed()) return true;
  if (!store_) return is_newer_than_save(record);
  if (record.is_dirty && record.size != spec_.size && !was_being_resized(record)) {
    throw Error(
        fmt::format("memory of export '{}' was kept, and {} has another size now; give it the {} "
                    "again that it had, or give --discard {} to let go of that memory",
                    spec_.name, backing_path(), format_size(record.size), spec_.name));
  }
  // It was equal to the file, which somebody may have changed since.
  return record.is_dirty || (record.size == spec_.size && record.backing == backing() &&
                             !file_.changed.empty() && text_of(record.changed) == file_.changed);
}

/// Whether memory is to be served in place of the file that it is to be saved to. Throws Error when
/// either has what the other lacks.
bool Export::is_newer_than_save(const MemoryRecord& record) const {
  if (file_.incarnation.empty()) return true;  // there is none
  if (record.is_unused) return false;
  const bool is_untouched = text_of(record.changed) == file_.changed;
  if (is_in_file(record)) return record.size == spec_.size && is_untouched;
  if (is_untouched || record.backing == backing()) return true;
  throw Error(fmt::format(
      "memory of export '{}' was kept, and {}, which it is to be saved to, is not from it: move "
      "that file away to go on with the memory, or give --discard {} to let go of the memory and "
      "load the file",
      spec_.name, spec_.save, spec_.name));
}

/// @param node where new memory is to lie; what was kept stays where it is.
void Export::make_memory(std::optional<KeptMemory> kept, std::optional<int> node) {
  if (kept) adopt_size(kept->record.record());
  if (kept && !is_current(kept->record.record())) kept.reset();
  inherits_ = kept.has_value();
  if (kept) {
    record_ = std::make_unique<RecordMemory>(std::move(kept->record));
    MemoryRecord record = record_->record();
    memory_ = std::make_unique<MemoryBacking>(spec_.name, std::move(kept->memory), spec_.size,
                                              spec_.huge_page, record.size);
    record.size = spec_.size;
    record.backing = backing();
    record_->update(record);
    in_store_ = kept->in_store;
  } else {
    memory_ = std::make_unique<MemoryBacking>(spec_.name, spec_.size, spec_.huge_page, node,
                                              options_.cancellation);
    if (!identity_) record_ = make_record();
  }
  if (!identity_ && is_backed()) {
    identify_by_state(inherits_ ? &record_->record() : nullptr);
  } else if (!identity_) {
    identity_ = std::make_unique<MemoryIdentity>(*record_);
  }
  fill_memory();
}

/// Memory that was resized while it was served keeps its size, whatever the configuration says.
void Export::adopt_size(const MemoryRecord& record) {
  if (spec_.kind != ExportKind::memory || record.size == spec_.size || !record.is_resized) return;
  spdlog::warn(
      "export '{}': it was resized to {} while it was served, and stays so; it is configured with "
      "{}: resize it, or change what it is configured with",
      spec_.name, format_size(record.size), format_size(spec_.size));
  spec_.size = record.size;
}

/// Whether its file has another size than its memory because an earlier process was about to resize
/// them, and had the file's part done.
bool Export::was_being_resized(const MemoryRecord& record) const {
  return store_ != nullptr && StoredIdentity::was_being_resized(*options_.state, file_.file_name(),
                                                                record.size, spec_.size);
}

std::unique_ptr<RecordMemory> Export::make_record() const {
  MemoryRecord record;
  set_text(record.name, spec_.name);
  record.kind = spec_.kind;
  record.size = spec_.size;
  record.huge_page = spec_.huge_page;
  record.memory = random_bytes<MemoryId>();
  record.uuid = make_uuid();
  record.generation = random_bytes<protocol::Generation>();
  record.lease = first_lease();
  record.is_unused = true;
  record.backing = backing();
  set_text(record.changed, file_.changed);
  return std::make_unique<RecordMemory>(record);
}

/// @param inherited what is known of the memory, if that comes from an earlier process.
void Export::identify_by_state(const MemoryRecord* inherited) {
  FoundContent content{file_.incarnation, spec_.size, options_.boot, {}, inherited};
  if (record_) content.memory = record_->record().memory;
  auto stored = std::make_unique<StoredIdentity>(*options_.state, spec_.name, backing_path(),
                                                 file_.file_name(), content);
  stored_ = stored.get();
  identity_ = std::move(stored);
  if (record_) stored_->mirror(*record_);
  if (store_) store_->flushes().tell_losses(*identity_);
}

void Export::fill_memory() {
  if (store_) {
    auto content = ResidentContent::none;
    if (inherits_ && !record_->record().is_dirty) content = ResidentContent::file;
    if (inherits_ && record_->record().is_dirty) content = ResidentContent::newer;
    if (inherits_ && record_->record().is_suspect) content = ResidentContent::suspect;
    resident_ = std::make_unique<ResidentStore>(spec_.name, *store_, memory_->bytes(), content,
                                                options_.cancellation);
  } else if (!spec_.save.empty() && !inherits_ && !file_.incarnation.empty()) {
    load_saved_memory(spec_, memory_->bytes(), options_.cancellation);
  }
}

void Export::begin() {
  if (record_) {
    MemoryRecord record = record_->record();
    record.is_dirty = true;
    if (spec_.shared) record.is_unused = false;  // no lease tells when somebody writes
    record_->update(record);
  }
  if (stored_ != nullptr) stored_->begin();
}

bool Export::settle() noexcept {
  if (resident_) return resident_->settle();
  if (!spec_.save.empty()) return save();
  if (!store_ || spec_.read_only) return true;
  if (::fdatasync(store_->file().fd()) == 0) return true;
  spdlog::error("export '{}': cannot flush {}: {}", spec_.name, store_->file().path(),
                errno_text(errno));
  identity_->mark_lost();
  return false;
}

/// A place is good for one attempt.
bool Export::save() noexcept {
  try {
    if (!save_place_) save_place_.emplace(spec_);
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return false;
  }
  const bool saved = save_memory(spec_, memory_->bytes(), *save_place_);
  save_place_.reset();
  return saved;
}

void Export::mark_clean() {
  if (stored_ == nullptr) return;
  file_ = store_ ? fingerprint_of(store_->file().fd(), store_->file().path())
                 : fingerprint_of(spec_.save);
  if (record_) {
    MemoryRecord record = record_->record();
    record.is_dirty = false;
    record.is_suspect = false;
    set_text(record.changed, file_.changed);
    record_->update(record);
  }
  stored_->mark_clean(file_.incarnation);
}

KeptMemory Export::release() {
  editions_.clear();
  registrations_.clear();
  resident_.reset();
  save_place_.reset();  // the successor's
  return {memory_->release(), std::move(*record_), in_store_};
}

/// What tells the file that memory is to be written to. A save is a new file each time, and has all
/// of the content: its path tells it.
protocol::Uuid Export::backing() const {
  if (store_) return file_.derive_uuid({});
  return spec_.save.empty() ? protocol::Uuid{} : FileFingerprint{file_.key, {}, {}}.derive_uuid({});
}

std::string Export::backing_path() const {
  return store_ ? store_->file().path() : spec_.save;
}

std::shared_ptr<Export::Registrations> Export::make_registrations(ibv_context* device) const {
  auto made = std::make_shared<Registrations>(
      Registrations{nullptr, Registration(device, spec_.chunk, Access::read_only), {}});
  if (!spec_.read_only) made->read_write.emplace(device, spec_.chunk, Access::read_write);
  return made;
}

std::vector<ibv_context*> Export::devices() const {
  std::vector<ibv_context*> devices;
  for (const auto& [device, registrations] : registrations_) devices.push_back(device);
  return devices;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Export::edition_sizes() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sizes;
  for (const auto& edition : editions_.all()) sizes.emplace_back(edition->number, edition->size);
  return sizes;
}

std::unique_ptr<Export::DeviceMemory> Export::register_with(
    ibv_context* device, std::shared_ptr<const void> owner,
    const std::vector<std::pair<std::uint64_t, std::uint64_t>>& editions) const {
  auto made = std::make_unique<DeviceMemory>();
  made->device_ = device;
  made->registrations_ = make_registrations(device);
  made->registrations_->device = std::move(owner);
  const Edition::Tables* before = nullptr;
  for (const auto& [number, size] : editions) {
    before = &made->tables_.emplace(number, make_tables(made->registrations_, number, size, before))
                  .first->second;
  }
  return made;
}

/// An edition that was dropped meanwhile needs none.
void Export::add_device(std::unique_ptr<DeviceMemory> memory) {
  ibv_context* const device = memory->device();
  registrations_[device] = std::move(memory->registrations_);
  for (auto& [number, tables] : memory->tables_) {
    if (Edition* const edition = editions_.find(number)) {
      edition->tables[device] = std::move(tables);
    }
  }
}

std::unique_ptr<Export::DeviceMemory> Export::take_device(ibv_context* device) {
  const auto found = registrations_.find(device);
  if (found == registrations_.end()) return nullptr;
  auto taken = std::make_unique<DeviceMemory>();
  taken->device_ = device;
  taken->registrations_ = std::move(found->second);
  registrations_.erase(found);
  for (auto& tables : editions_.take_tables(device)) {
    taken->tables_.emplace(taken->tables_.size(), std::move(tables));
  }
  return taken;
}

void Export::hold_device(ibv_context* device, std::shared_ptr<const void> owner) {
  const auto found = registrations_.find(device);
  if (found != registrations_.end()) found->second->device = std::move(owner);
}

Offer Export::offer(ibv_context* device) {
  Offer offer;
  offer.info.name = spec_.name;
  offer.info.uuid = identity_->uuid();
  offer.info.kind = spec_.kind;
  offer.info.read_only = spec_.read_only;
  offer.info.block_size = kBlockSize;
  offer.info.size = spec_.size;
  offer.info.is_shared = spec_.shared;
  offer.identity = identity_.get();
  offer.rules = &spec_.rules;
  offer.lease = lease_.get();
  offer.editions = &editions_;
  offer.use = &use_;
  if (!spec_.read_only) offer.read_write.emplace();
  offer.is_registered = is_registered_with(device);
  if (memory_ && offer.is_registered) add_grants(offer, device);
  if (store_) add_file(offer);
  return offer;
}

void Export::add_grants(Offer& offer, ibv_context* device) const {
  const auto& shared = registrations_.at(device);
  const auto grant_of = [&](const Registration& registration, const RegisteredTable& table) {
    return Grant{table.where(), &registration.protection_domain(), shared};
  };
  const Registrations& registrations = *shared;
  const Edition::Tables& tables = editions_.current().tables.at(device);
  offer.read_only = grant_of(registrations.read_only, *tables.read_only);
  if (registrations.read_write) {
    offer.read_write = grant_of(*registrations.read_write, *tables.read_write);
  }
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

Footprint Export::footprint() const noexcept {
  Footprint sum;
  for (const auto& [device, made] : registrations_) {
    sum.protection_domains += made->read_write ? 2 : 1;
  }
  for (const auto& edition : editions_.all()) {
    sum += footprint_of(*edition, edition.get() != &editions_.current());
  }
  return sum;
}

std::string Export::describe() const {
  std::string what;
  if (memory_) what = describe_memory(spec_);
  if (store_) {
    if (!memory_) what = format_size(spec_.size);
    what += fmt::format(" {} {}", memory_ ? (inherits_ ? "of" : "loaded from") : "in",
                        store_->file().describe());
  }
  const bool is_to_tell = spec_.read_only && !store_;  // a file tells of it itself
  if (inherits_) what += " as an earlier process left it";
  return fmt::format("export '{}': {}{}{}, uuid {}", spec_.name, what,
                     is_to_tell ? ", read-only" : "", spec_.shared ? ", shared" : "",
                     format_uuid(identity_->uuid()));
}

}  // namespace rdmablk::target
