#include "target/export_set_up.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/error.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "target/boot_id.h"
#include "target/distinct_files.h"
#include "target/machine_memory.h"
#include "target/memlock_budget.h"
#include "target/store_grant.h"

namespace rdmablk::target {
namespace {

/// What the files of resident exports will take, as far as it is known: before any is made.
void expect_sizes(std::vector<ExportSpec>& specs) {
  for (ExportSpec& spec : specs) {
    if (spec.has_file()) spec.size = spec.file_size.value_or(0);
  }
}

/// Those whose memory has to be made.
std::vector<ExportSpec> without(std::vector<ExportSpec> specs, const InheritedMemory& inherited) {
  std::erase_if(specs, [&](const ExportSpec& spec) { return inherited.has(spec.name); });
  return specs;
}

/// Opens the files of those that have one. @param specs get their sizes.
std::vector<std::unique_ptr<FileStore>> open_stores(std::vector<ExportSpec>& specs) {
  std::vector<std::unique_ptr<FileStore>> stores;
  unsigned number = 0;
  for (ExportSpec& spec : specs) {
    auto& store = stores.emplace_back();
    if (!spec.has_file()) continue;
    store = std::make_unique<FileStore>(spec, number++);
    spec.size = store->file().size();
    if (spec.kind == protocol::ExportKind::resident) check_chunk_count(spec);
  }
  return stores;
}

void check_slot_memory(const BackingFile& file, const Options& options) {
  const std::uint64_t needed = full_queue_bytes(file, options.limits);
  if (needed <= options.slot_memory) return;
  throw UsageError(fmt::format(
      "--slot-memory is {}, and one I/O queue with --slots {} of --slot-size {} takes {} bytes",
      format_size(options.slot_memory), options.limits.slots, format_size(options.limits.slot_size),
      needed));
}

std::unique_ptr<Export> make_export(const ExportSpec& spec, std::unique_ptr<FileStore> store,
                                    std::optional<KeptMemory> kept, const ExportGround& ground,
                                    const Export::Options& options) {
  const bool was_in_store = kept && kept->in_store;
  auto made =
      std::make_unique<Export>(spec, std::move(store), std::move(kept), ground.devices, options);
  if (was_in_store && !made->is_in_store()) ground.service_manager.remove_memory(spec.name);
  spdlog::info("{}", made->describe());
  return made;
}

/// Has the service manager keep what is in memory, before anybody can write to it.
void keep_memory(std::span<const std::unique_ptr<Export>> exports,
                 const ServiceManager& service_manager) {
  std::vector<ServiceManager::Stored> descriptors;
  std::vector<Export*> kept;
  for (const auto& exported : exports) {
    if (!exported->is_kept() || exported->is_in_store()) continue;
    kept.push_back(exported.get());
    descriptors.push_back({memory_fd_name(exported->spec().name), exported->memory_fd()});
    descriptors.push_back({record_fd_name(exported->spec().name), exported->record_fd()});
  }
  if (kept.empty() || !service_manager.is_there()) return;
  if (!service_manager.store(descriptors)) {
    return spdlog::warn(
        "the service manager keeps no memory, which ends with this process: to keep it over "
        "restarts set FileDescriptorStoreMax= of this service to {} at least",
        descriptors.size());
  }
  for (Export* const exported : kept) exported->set_in_store();
}

}  // namespace

bool needs_state(const ExportSpec& spec) {
  return (spec.has_file() && !spec.read_only) || !spec.save.empty();
}

std::unique_ptr<StateDirectory> open_state(const Options& options) {
  if (std::none_of(options.exports.begin(), options.exports.end(), needs_state)) return nullptr;
  return std::make_unique<StateDirectory>(
      options.state_directory.empty() ? default_state_directory() : options.state_directory);
}

/// Opens the files first: what the memory of resident exports takes depends on them.
std::vector<std::unique_ptr<Export>> make_exports(const Options& options, InheritedMemory inherited,
                                                  const ExportGround& ground) {
  std::vector<ExportSpec> specs = options.exports;
  check_distinct_files(specs);
  expect_sizes(specs);
  check_memory(without(specs, inherited), read_machine_memory());
  auto stores = open_stores(specs);
  check_memory(without(specs, inherited), read_machine_memory());
  check_memlock(specs, ground.devices.size(), verbs::memlock_limit());
  for (const auto& store : stores) {
    if (store) check_slot_memory(store->file(), options);
  }
  const Export::Options export_options{.state = ground.state,
                                       .boot = read_boot_id(),
                                       .budget = &ground.slots,
                                       .show_path = options.show_paths};
  std::vector<std::unique_ptr<Export>> exports;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    exports.push_back(make_export(specs[i], std::move(stores[i]), inherited.take(specs[i].name),
                                  ground, export_options));
  }
  keep_memory(exports, ground.service_manager);
  return exports;
}

std::uint64_t client_slot_memory(const Options& options,
                                 std::span<const std::unique_ptr<Export>> exports) {
  if (options.client_slot_memory) return *options.client_slot_memory;
  std::uint64_t memory = options.slot_memory / 2;
  for (const auto& exported : exports) {
    if (exported->store() == nullptr) continue;
    memory = std::max(memory, full_queue_bytes(exported->store()->file(), options.limits));
  }
  return memory;
}

std::vector<int> files_of(std::span<const std::unique_ptr<Export>> exports) {
  std::vector<int> files;
  for (const auto& exported : exports) {
    if (exported->store() != nullptr) files.push_back(exported->store()->file().fd());
  }
  return files;
}

std::vector<KeptMemory> release_memory(std::span<const std::unique_ptr<Export>> exports) {
  std::vector<KeptMemory> memory;
  for (const auto& exported : exports) {
    if (exported->is_kept()) memory.push_back(exported->release());
  }
  return memory;
}

}  // namespace rdmablk::target
