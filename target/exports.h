#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "target/administration.h"
#include "target/client_budgets.h"
#include "target/counts.h"
#include "target/export.h"
#include "target/export_set_up.h"
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
  /// Makes the exports, and registers them if there is one device alone: otherwise that waits until
  /// somebody wants them there. Nobody is served before begin().
  /// @param io of the control thread. @param devices to offer them on.
  /// @param service_manager outlives this, as they do. @param inherited memory that earlier
  /// processes left; all of it is for these. Throws Error.
  Exports(asio::io_context& io, const Options& options, InheritedMemory inherited,
          const std::vector<ibv_context*>& devices, const ServiceManager& service_manager);

  /// The same with devices that are shared.
  Exports(asio::io_context& io, const Options& options, InheritedMemory inherited,
          std::vector<std::shared_ptr<TargetDevice>> devices,
          const ServiceManager& service_manager);
  ~Exports();
  Exports(const Exports&) = delete;
  Exports& operator=(const Exports&) = delete;

  std::span<const std::unique_ptr<Export>> all() const noexcept { return exports_; }

  /// The export of that name; null when there is none.
  Export* find(std::string_view name) const noexcept;

  /// What all of them are by.
  std::vector<ExportSpec> specs() const;

  std::span<const std::shared_ptr<TargetDevice>> devices() const noexcept { return devices_; }

  /// Null when it is none of the target's.
  std::shared_ptr<const TargetDevice> find_device(const ibv_context* context) const noexcept;

  /// Offers all exports on one device more.
  void add_device(std::shared_ptr<TargetDevice> device);

  /// Offers nothing on a device any more. @return it, which who uses it shares; null when it is
  /// none of the target's.
  std::shared_ptr<TargetDevice> remove_device(const ibv_context* context);

  /// An export has changed: offers what it is now.
  void update_offers(Export& exported);

  IoThreads& io_threads() noexcept { return io_threads_; }

  /// The memory for slots.
  const SlotBudget& slot_budget() const noexcept { return slot_budget_; }

  /// What each client may use of the memory for slots.
  ClientBudgets& client_budgets() noexcept { return client_budgets_; }

  // How one comes while others are served, and goes: see ExportChanges.

  /// What one more is made on.
  ExportGround ground() noexcept;

  /// Keeps the state directory, which was opened for one more. @pre the ground has none.
  void set_state(std::unique_ptr<StateDirectory> state) noexcept { state_ = std::move(state); }

  /// Offers one more on all devices. @pre it has begun, and the I/O threads know its file.
  void offer(std::unique_ptr<Export> exported);

  /// Offers one no more; who has it goes on.
  void withdraw(const Export& exported);

  /// Offers one again that was withdrawn.
  void restore(const Export& exported);

  /// Forgets one that was withdrawn. @pre nobody uses it.
  std::unique_ptr<Export> take_out(const Export& exported);

  const ServiceManager& service_manager() const noexcept { return service_manager_; }

  /// Whether the service manager keeps the memory of any.
  bool has_stored_memory() const noexcept;

  /// They are about to be served: see Export::begin(). Throws Error.
  void begin();

  /// Ends the I/O threads, once what was posted to them has run. Before the queues that they serve
  /// are destroyed, and nothing comes after.
  void end_threads() noexcept { io_threads_.end(); }

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
  void make(InheritedMemory inherited);

  Options options_;  ///< without exports
  const ServiceManager& service_manager_;
  SlotBudget slot_budget_;
  std::unique_ptr<StateDirectory> state_;  ///< null as long as no export needs one
  std::vector<std::unique_ptr<Export>> exports_;
  std::set<const Export*> withdrawn_;
  ClientBudgets client_budgets_{0};
  std::vector<std::shared_ptr<TargetDevice>> devices_;
  IoThreads io_threads_;
};

}  // namespace rdmablk::target
