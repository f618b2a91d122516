#include "target/exports.h"

#include <algorithm>

#include "target/export_set_up.h"
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

}  // namespace

Exports::Exports(asio::io_context& io, const Options& options, InheritedMemory inherited,
                 std::vector<ibv_context*> devices, const ServiceManager& service_manager)
    : options_(options),
      contexts_(std::move(devices)),
      service_manager_(service_manager),
      slot_budget_(options.slot_memory),
      io_threads_(io, options.io_threads) {
  for (ibv_context* const device : contexts_) {
    devices_.push_back(std::make_unique<TargetDevice>(device));
  }
  make(std::move(inherited));
  options_.exports.clear();
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
  for (auto& one : made) offer(std::move(one));
}

ExportGround Exports::ground() noexcept {
  return {options_, contexts_, slot_budget_, state_.get(), service_manager_};
}

void Exports::offer(std::unique_ptr<Export> exported) {
  for (const auto& device : devices_) device->catalog().add(exported->offer(device->context()));
  exports_.push_back(std::move(exported));
  client_budgets_.raise(client_slot_memory(options_, exports_));
}

void Exports::withdraw(const Export& exported) {
  for (const auto& device : devices_) device->catalog().withdraw(exported.spec().name);
}

void Exports::restore(const Export& exported) {
  for (const auto& device : devices_) device->catalog().restore(exported.spec().name);
}

std::unique_ptr<Export> Exports::take_out(const Export& exported) {
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

const TargetDevice* Exports::find_device(const ibv_context* context) const noexcept {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const auto& device) { return device->context() == context; });
  return found == devices_.end() ? nullptr : found->get();
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
