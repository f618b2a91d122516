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

Exports::Exports(const Options& options, InheritedMemory inherited,
                 std::span<ibv_context* const> devices, const ServiceManager& service_manager)
    : slot_budget_(options.slot_memory),
      state_(open_state(options)),
      exports_(make_exports(options, std::move(inherited),
                            {devices, slot_budget_, state_.get(), service_manager})) {
  // The threads register the files.
  const auto files = files_of(exports_);
  if (!files.empty()) io_threads_.emplace(options.io_threads, files);
  client_budgets_.emplace(client_slot_memory(options, exports_));
  for (ibv_context* const device : devices) {
    devices_.push_back(std::make_unique<TargetDevice>(device, exports_));
  }
}

Export* Exports::find(std::string_view name) const noexcept {
  const auto found = std::find_if(exports_.begin(), exports_.end(),
                                  [&](const auto& one) { return one->spec().name == name; });
  return found == exports_.end() ? nullptr : found->get();
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
