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
#include "target/target_device.h"

namespace rdmablk::target {

/// Whether anything is to be remembered of an export when the target has ended.
bool needs_state(const ExportSpec& spec);

/// Checks that the memory for slots holds an I/O queue of a file. Throws UsageError.
/// @param alignment of the file.
void check_slot_memory(std::uint32_t alignment, const Options& options);

/// Opens the state directory. Throws Error.
std::unique_ptr<StateDirectory> open_state(const Options& options);

/// What all exports stand on; outlives them.
struct ExportGround {
  const Options& options;             ///< of the target; the exports that they name do not matter
  std::vector<ibv_context*> devices;  ///< to register with at once
  std::vector<std::shared_ptr<const TargetDevice>> owners;  ///< of these
  SlotBudget& slots;
  const StateDirectory* state = nullptr;  ///< null: none of the exports needs it
  const ServiceManager& service_manager;
  const Cancellation* cancellation = nullptr;  ///< ends the making early; null: nothing does
};

/// An export that is to be made.
struct ExportOrder {
  ExportSpec spec;
  unsigned file_number = 0;  ///< see FileStore; of one with a file
};

/// Opens the files of exports, makes their memory or takes over what earlier processes left.
/// Blocks, for long maybe. Throws Error; what was made for them is gone then.
/// @param others those that there are already. @param inherited checked; all of it is for these.
std::vector<std::unique_ptr<Export>> make_exports(std::span<const ExportOrder> orders,
                                                  std::span<const ExportSpec> others,
                                                  InheritedMemory inherited,
                                                  const ExportGround& ground);

/// Has the service manager keep what is in their memory: before anybody can write to it, if the
/// next process is to have it in any case. Blocks. Throws Error; the memory is not kept then.
/// @param others_are_kept whether it has that of others.
void keep_memory(std::span<Export* const> exports, const ServiceManager& service_manager,
                 bool others_are_kept);

/// What one client may take of the memory for slots, in bytes: what was asked for, or half of all,
/// and no less than one I/O queue takes.
std::uint64_t client_slot_memory(const Options& options,
                                 std::span<const std::unique_ptr<Export>> exports);

/// Takes their memory out of those that have any, for another process. When no device and no thread
/// uses it any more.
std::vector<KeptMemory> release_memory(std::span<const std::unique_ptr<Export>> exports);

}  // namespace rdmablk::target
