#include "target/export_set_up.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/error.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "target/boot_id.h"
#include "target/distinct_files.h"
#include "target/known_size.h"
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

std::vector<ExportSpec> together(std::span<const ExportSpec> others,
                                 std::span<const ExportSpec> specs) {
  std::vector<ExportSpec> all(others.begin(), others.end());
  all.insert(all.end(), specs.begin(), specs.end());
  return all;
}

/// Opens the files of those that have one. @param specs get their sizes.
std::vector<std::unique_ptr<FileStore>> open_stores(std::span<const ExportOrder> orders,
                                                    std::vector<ExportSpec>& specs,
                                                    const StateDirectory* state) {
  std::vector<std::unique_ptr<FileStore>> stores;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    ExportSpec& spec = specs[i];
    auto& store = stores.emplace_back();
    adopt_known_size(spec, state);
    if (!spec.has_file()) continue;
    store = std::make_unique<FileStore>(spec, orders[i].file_number);
    spec.size = store->file().size();
    if (spec.kind == protocol::ExportKind::resident) check_chunk_count(spec);
  }
  return stores;
}

std::unique_ptr<Export> make_export(const ExportSpec& spec, std::unique_ptr<FileStore> store,
                                    std::optional<KeptMemory> kept, const ExportGround& ground,
                                    const Export::Options& options) {
  const bool was_in_store = kept && kept->in_store;
  auto made =
      std::make_unique<Export>(spec, std::move(store), std::move(kept), ground.devices, options);
  for (const auto& owner : ground.owners) made->hold_device(owner->context(), owner);
  if (was_in_store && !made->is_in_store()) ground.service_manager.remove_memory(spec.name);
  spdlog::info("{}", made->describe());
  return made;
}

/// What an administrator added for as long as this process runs would keep the next one from
/// starting: it knows of no such export.
bool is_for_good(const Export& exported) {
  return exported.spec().origin != ExportOrigin::run_time;
}

[[noreturn]] void refuse_for_room(std::size_t descriptors) {
  throw Error(fmt::format(
      "the service manager has no room for {} descriptors more, so the memory would not "
      "outlast a restart as that of the other exports does: set FileDescriptorStoreMax= "
      "of this service to two for each export of memory, and for each resident one",
      descriptors));
}

}  // namespace

bool needs_state(const ExportSpec& spec) {
  return (spec.has_file() && !spec.read_only) || !spec.save.empty();
}

void check_slot_memory(std::uint32_t alignment, const Options& options) {
  const std::uint64_t needed = full_queue_bytes(alignment, options.limits);
  if (needed <= options.slot_memory) return;
  throw UsageError(fmt::format(
      "--slot-memory is {}, and one I/O queue with --slots {} of --slot-size {} takes {} bytes",
      format_size(options.slot_memory), options.limits.slots, format_size(options.limits.slot_size),
      needed));
}

std::unique_ptr<StateDirectory> open_state(const Options& options) {
  return std::make_unique<StateDirectory>(
      options.state_directory.empty() ? default_state_directory() : options.state_directory);
}

void keep_memory(std::span<Export* const> exports, const ServiceManager& service_manager,
                 bool others_are_kept) {
  std::vector<ServiceManager::Stored> descriptors;
  std::vector<Export*> kept;
  for (Export* const exported : exports) {
    if (!exported->is_kept() || exported->is_in_store() || !is_for_good(*exported)) continue;
    kept.push_back(exported);
    descriptors.push_back({memory_fd_name(exported->spec().name), exported->memory_fd()});
    descriptors.push_back({record_fd_name(exported->spec().name), exported->record_fd()});
  }
  if (kept.empty() || !service_manager.is_there()) return;
  if (!service_manager.store(descriptors)) {
    if (others_are_kept) refuse_for_room(descriptors.size());
    return spdlog::warn(
        "the service manager keeps no memory, which ends with this process: to keep it over "
        "restarts set FileDescriptorStoreMax= of this service to {} at least",
        descriptors.size());
  }
  for (Export* const exported : kept) exported->set_in_store();
}

/// Opens the files first: what the memory of resident exports takes depends on them.
std::vector<std::unique_ptr<Export>> make_exports(std::span<const ExportOrder> orders,
                                                  std::span<const ExportSpec> others,
                                                  InheritedMemory inherited,
                                                  const ExportGround& ground) {
  std::vector<ExportSpec> specs;
  for (const ExportOrder& order : orders) specs.push_back(order.spec);
  check_distinct_files(together(others, specs));
  expect_sizes(specs);
  check_memory(without(specs, inherited), read_machine_memory());
  auto stores = open_stores(orders, specs, ground.state);
  check_memory(without(specs, inherited), read_machine_memory());
  // Those of several devices that nobody uses take nothing; one is used in any case.
  check_memlock(together(others, specs), 1, verbs::memlock_limit());
  for (const auto& store : stores) {
    if (store) check_slot_memory(store->file().alignment(), ground.options);
  }
  const Export::Options export_options{.state = ground.state,
                                       .boot = read_boot_id(),
                                       .budget = &ground.slots,
                                       .show_path = ground.options.show_paths,
                                       .cancellation = ground.cancellation};
  std::vector<std::unique_ptr<Export>> exports;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    exports.push_back(make_export(specs[i], std::move(stores[i]), inherited.take(specs[i].name),
                                  ground, export_options));
  }
  return exports;
}

std::uint64_t client_slot_memory(const Options& options,
                                 std::span<const std::unique_ptr<Export>> exports) {
  if (options.client_slot_memory) return *options.client_slot_memory;
  std::uint64_t memory = options.slot_memory / 2;
  for (const auto& exported : exports) {
    if (exported->store() == nullptr) continue;
    memory =
        std::max(memory, full_queue_bytes(exported->store()->file().alignment(), options.limits));
  }
  return memory;
}

std::vector<KeptMemory> release_memory(std::span<const std::unique_ptr<Export>> exports) {
  std::vector<KeptMemory> memory;
  for (const auto& exported : exports) {
    if (exported->is_kept()) memory.push_back(exported->release());
  }
  return memory;
}

}  // namespace rdmablk::target
