#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "target/administration.h"
#include "target/client_budgets.h"
#include "target/counts.h"
#include "target/export.h"
#include "target/inherited_memory.h"
#include "target/io_threads.h"
#include "target/options.h"
#include "target/service_manager.h"
#include "target/slot_budget.h"
#include "target/state_directory.h"
#include "target/target_device.h"

namespace rdmablk::target {

/// The exports of a target, the devices that they are offered on, and what works for them: the I/O
/// threads, and the memory that file exports may use. Used by the control thread.
class Exports {
 public:
  /// Makes and registers the exports; nobody is served before begin().
  /// @param devices to offer them on. @param service_manager outlives this, as they do.
  /// @param inherited memory that earlier processes left; all of it is for these. Throws Error.
  Exports(const Options& options, InheritedMemory inherited, std::span<ibv_context* const> devices,
          const ServiceManager& service_manager);
  Exports(const Exports&) = delete;
  Exports& operator=(const Exports&) = delete;

  std::span<const std::unique_ptr<Export>> all() const noexcept { return exports_; }

  /// The export of that name; null when there is none.
  Export* find(std::string_view name) const noexcept;

  std::span<const std::unique_ptr<TargetDevice>> devices() const noexcept { return devices_; }

  /// Null when it is none of the target's.
  const TargetDevice* find_device(const ibv_context* context) const noexcept;

  /// Null when no export has a file.
  IoThreads* io_threads() noexcept { return io_threads_ ? &*io_threads_ : nullptr; }

  /// The memory for slots.
  const SlotBudget& slot_budget() const noexcept { return slot_budget_; }

  /// What each client may use of the memory for slots.
  ClientBudgets& client_budgets() noexcept { return *client_budgets_; }

  /// They are about to be served: see Export::begin(). Throws Error.
  void begin();

  /// Ends the I/O threads, once what was posted to them has run. Before the queues that they serve
  /// are destroyed, and nothing comes after.
  void end_threads() noexcept { io_threads_.reset(); }

  /// Lets files take what resident exports hold in memory alone, and notes that nothing is missing:
  /// see settle(). When no queue is left.
  /// @return those whose files do not hold everything.
  std::vector<const Export*> settle(asio::io_context& io);

  /// What is known of the memory that is kept for the next process.
  std::vector<MemoryRecord> kept_records() const;

  /// Takes that memory out, when no queue is left.
  std::vector<KeptMemory> release_memory();

  /// Adds what they have.
  void count(Counts& counts) const;

  /// What an administrator sees of them.
  /// @param sessions tell who has them attached.
  std::vector<ExportStatus> status(std::span<const SessionStatus> sessions) const;

 private:
  SlotBudget slot_budget_;
  std::unique_ptr<StateDirectory> state_;  ///< null as long as no export needs one
  std::vector<std::unique_ptr<Export>> exports_;
  std::optional<ClientBudgets> client_budgets_;
  std::vector<std::unique_ptr<TargetDevice>> devices_;
  std::optional<IoThreads> io_threads_;  ///< nothing as long as no export has a file
};

}  // namespace rdmablk::target
