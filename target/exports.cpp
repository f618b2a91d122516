#include "target/exports.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/error.h"
#include "common/verbs/memory_region.h"
#include "target/export_set_up.h"
#include "target/memlock_budget.h"
#include "target/settlement.h"

namespace rdmablk::target {
namespace {

void count_attachments(std::span<const SessionStatus> sessions, ExportStatus& status) {
  for (const SessionStatus& session : sessions) {
    for (const AttachmentStatus& attachment : session.attachments) {
      if (attachment.export_name != status.spec.name) continue;
      ++(attachment.access == protocol::Access::read_write ? status.writers : status.readers);
    }
  }
}

/// With several devices what lacks shows when exports are used over more than one of them.
void warn_of_memlock(const std::vector<ExportSpec>& specs, std::size_t devices) {
  try {
    check_memlock(specs, devices, verbs::memlock_limit());
  } catch (const Error& error) {
    spdlog::warn(
        "{}; exports are registered with each device when somebody uses them there, and "
        "who comes when no more is possible is refused",
        error.what());
  }
}

std::vector<std::shared_ptr<TargetDevice>> share(const std::vector<ibv_context*>& contexts) {
  std::vector<std::shared_ptr<TargetDevice>> devices;
  for (ibv_context* const context : contexts) {
    devices.push_back(std::make_shared<TargetDevice>(context));
  }
  return devices;
}

}  // namespace

Exports::Exports(asio::io_context& io, const Options& options, InheritedMemory inherited,
                 const std::vector<ibv_context*>& devices, const ServiceManager& service_manager)
    : Exports(io, options, std::move(inherited), share(devices), service_manager) {}

Exports::Exports(asio::io_context& io, const Options& options, InheritedMemory inherited,
                 std::vector<std::shared_ptr<TargetDevice>> devices,
                 const ServiceManager& service_manager)
    : options_(options),
      service_manager_(service_manager),
      slot_budget_(options.slot_memory),
      devices_(std::move(devices)),
      io_threads_(io, options.io_threads) {
  make(std::move(inherited));
  options_.exports.clear();
}

/// Devices offer what is registered with them, and registrations hold their devices.
Exports::~Exports() {
  for (const auto& device : devices_) device->catalog().clear();
}

void Exports::make(InheritedMemory inherited) {
  const auto& specs = options_.exports;
  if (std::any_of(specs.begin(), specs.end(), needs_state)) state_ = open_state(options_);
  std::vector<ExportOrder> orders;
  for (const ExportSpec& spec : specs) {
    orders.push_back({spec, spec.has_file() ? io_threads_.take_number() : 0});
  }
  auto made = make_exports(orders, {}, std::move(inherited), ground());
  std::vector<Export*> all;
  for (const auto& one : made) all.push_back(one.get());
  keep_memory(all, service_manager_, false);
  for (const auto& one : made) {
    if (one->store() == nullptr) continue;
    io_threads_.expect_file(one->store()->number(), one->store()->file().fd());
  }
  io_threads_.start_if_needed();
  if (devices_.size() > 1) warn_of_memlock(options_.exports, devices_.size());
  for (auto& one : made) offer(std::move(one));
}

ExportGround Exports::ground() noexcept {
  ExportGround ground{options_, {}, {}, slot_budget_, state_.get(), service_manager_};
  if (devices_.size() != 1) return ground;
  ground.devices = {devices_.front()->context()};
  ground.owners = {devices_.front()};
  return ground;
}

void Exports::add_device(std::shared_ptr<TargetDevice> device) {
  for (const auto& one : exports_) device->catalog().add(one->offer(device->context()));
  for (const Export* const one : withdrawn_) device->catalog().withdraw(one->spec().name);
  devices_.push_back(std::move(device));
}

std::shared_ptr<TargetDevice> Exports::remove_device(const ibv_context* context) {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& device) { return device->context() == context; });
  if (found == devices_.end()) return nullptr;
  auto taken = std::move(*found);
  devices_.erase(found);
  return taken;
}

void Exports::offer(std::unique_ptr<Export> exported) {
  for (ibv_context* const device : exported->devices()) {
    if (find_device(device) == nullptr) exported->take_device(device);  // is gone since it was made
  }
  for (const auto& device : devices_) device->catalog().add(exported->offer(device->context()));
  exports_.push_back(std::move(exported));
  client_budgets_.raise(client_slot_memory(options_, exports_));
}

void Exports::withdraw(const Export& exported) {
  withdrawn_.insert(&exported);
  for (const auto& device : devices_) device->catalog().withdraw(exported.spec().name);
}

void Exports::restore(const Export& exported) {
  withdrawn_.erase(&exported);
  for (const auto& device : devices_) device->catalog().restore(exported.spec().name);
}

std::unique_ptr<Export> Exports::take_out(const Export& exported) {
  withdrawn_.erase(&exported);
  for (const auto& device : devices_) device->catalog().remove(exported.spec().name);
  const auto found = std::find_if(exports_.begin(), exports_.end(),
                                  [&](const auto& one) { return one.get() == &exported; });
  auto taken = std::move(*found);
  exports_.erase(found);
  return taken;
}

bool Exports::has_stored_memory() const noexcept {
  return std::any_of(exports_.begin(), exports_.end(),
                     [](const auto& one) { return one->is_in_store(); });
}

std::vector<ExportSpec> Exports::specs() const {
  std::vector<ExportSpec> specs;
  for (const auto& one : exports_) specs.push_back(one->spec());
  return specs;
}

Export* Exports::find(std::string_view name) const noexcept {
  const auto found = std::find_if(exports_.begin(), exports_.end(),
                                  [&](const auto& one) { return one->spec().name == name; });
  return found == exports_.end() ? nullptr : found->get();
}

void Exports::update_offers(Export& exported) {
  for (const auto& device : devices_) device->catalog().update(exported.offer(device->context()));
}

std::shared_ptr<const TargetDevice> Exports::find_device(
    const ibv_context* context) const noexcept {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& device) { return device->context() == context; });
  return found == devices_.end() ? nullptr : *found;
}

void Exports::begin() {
  for (const auto& exported : exports_) exported->begin();
  for (const auto& exported : exports_) {
    if (exported->store() != nullptr) exported->store()->keep();
  }
}

std::vector<const Export*> Exports::settle(asio::io_context& io) {
  auto unsettled = target::settle(exports_, io);
  mark_clean(exports_, unsettled);
  return unsettled;
}

std::vector<MemoryRecord> Exports::kept_records() const {
  std::vector<MemoryRecord> records;
  for (const auto& exported : exports_) {
    if (exported->is_kept()) records.push_back(exported->record());
  }
  return records;
}

std::vector<KeptMemory> Exports::release_memory() {
  return target::release_memory(exports_);
}

void Exports::count(Counts& counts) const {
  counts.footprint.protection_domains += devices_.size();
  for (const auto& one : exports_) {
    counts.footprint += one->footprint();
    if (one->lease() != nullptr && one->lease()->is_held()) ++counts.leases;
  }
}

std::vector<ExportStatus> Exports::status(std::span<const SessionStatus> sessions) const {
  std::vector<ExportStatus> all;
  for (const auto& one : exports_) {
    ExportStatus status;
    status.spec = one->spec();
    status.origin = status.spec.origin;
    status.size = status.spec.size;
    status.uuid = one->identity().uuid();
    status.generation = one->identity().generation();
    if (one->lease() != nullptr) status.lease = one->lease()->number();
    status.registered_bytes = one->footprint().bytes;
    if (one->store() != nullptr) status.file = one->store()->figures();
    count_attachments(sessions, status);
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace rdmablk::target
