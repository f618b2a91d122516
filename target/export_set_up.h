#pragma once

#include <memory>
#include <span>
#include <vector>

#include "target/export.h"
#include "target/inherited_memory.h"
#include "target/options.h"
#include "target/service_manager.h"
#include "target/slot_budget.h"
#include "target/state_directory.h"

namespace rdmablk::target {

/// Whether anything is to be remembered of an export when the target has ended.
bool needs_state(const ExportSpec& spec);

/// Opens the state directory, if any of the exports needs one; null otherwise. Throws Error.
std::unique_ptr<StateDirectory> open_state(const Options& options);

/// What all exports stand on; outlives them.
struct ExportGround {
  std::span<ibv_context* const> devices;
  SlotBudget& slots;
  const StateDirectory* state = nullptr;  ///< open_state()
  const ServiceManager& service_manager;
};

/// Opens the files of exports, makes their memory or takes over what earlier processes left, and
/// has the service manager keep it. Throws Error; what was made for them is gone then.
/// @param inherited checked; all of it is for these.
std::vector<std::unique_ptr<Export>> make_exports(const Options& options, InheritedMemory inherited,
                                                  const ExportGround& ground);

/// What one client may take of the memory for slots, in bytes: what was asked for, or half of all,
/// and no less than one I/O queue takes.
std::uint64_t client_slot_memory(const Options& options,
                                 std::span<const std::unique_ptr<Export>> exports);

/// The descriptors of their files, in the order of FileStore::number().
std::vector<int> files_of(std::span<const std::unique_ptr<Export>> exports);

/// Takes their memory out of those that have any, for another process. When no device and no thread
/// uses it any more.
std::vector<KeptMemory> release_memory(std::span<const std::unique_ptr<Export>> exports);

}  // namespace rdmablk::target
