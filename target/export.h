#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/protocol/messages.h"
#include "target/cancellation.h"
#include "target/catalog.h"
#include "target/edition.h"
#include "target/export_identity.h"
#include "target/export_spec.h"
#include "target/export_use.h"
#include "target/file_fingerprint.h"
#include "target/file_store.h"
#include "target/inherited_memory.h"
#include "target/lease.h"
#include "target/memory_backing.h"
#include "target/registration.h"
#include "target/resident_store.h"
#include "target/save_place.h"
#include "target/state_directory.h"
#include "target/stored_identity.h"

namespace rdmablk::target {

/// A named image: its memory with its registrations by device and access, its file, or both.
class Export {
 public:
  struct Options {
    /// Where identities are kept, and the boot that it is; needed for files that may be written.
    const StateDirectory* state = nullptr;  // outlives the export
    std::string boot = {};
    SlotBudget* budget = nullptr;  ///< of the target; outlives the export
    bool show_path = false;        ///< to initiators, instead of the file's name alone
    const Cancellation* cancellation = nullptr;  ///< of making it; null: nothing ends that early
  };

  /// Its memory on one device, to be added to it or taken out of it: to make and to destroy that
  /// takes long.
  class DeviceMemory;

  /// Makes the memory, or takes over what an earlier process had, loads it from the file, and
  /// registers it.
  /// @param spec with the size of its file. @param store its file, if it has one.
  /// @param kept memory of it, in order as InheritedMemory::check() has it.
  /// @param devices those that it is registered with from the start; they outlive the export, or
  /// hold_device() says who makes them. Throws Error.
  Export(const ExportSpec& spec, std::unique_ptr<FileStore> store, std::optional<KeptMemory> kept,
         std::span<ibv_context* const> devices, const Options& options);

  const ExportSpec& spec() const noexcept { return spec_; }

  /// The export as sessions of one of its devices see it; valid as long as the export.
  Offer offer(ibv_context* device);

  // Its memory comes to a device, and leaves it, while others use it. Neither happens while a new
  // size is prepared.

  /// Whether it can be used over a device: without memory it always can.
  bool is_registered_with(ibv_context* device) const noexcept {
    return memory_ == nullptr || registrations_.contains(device);
  }

  /// The devices that its memory is registered with.
  std::vector<ibv_context*> devices() const;
  std::size_t device_count() const noexcept { return registrations_.size(); }

  /// The editions that there are, for register_with().
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edition_sizes() const;

  /// Registers its memory with one more device. Blocks; any thread.
  /// @param owner of the device; lives as long as what is made with it.
  /// @param editions see edition_sizes(). Throws MemlockError or SystemError.
  std::unique_ptr<DeviceMemory> register_with(
      ibv_context* device, std::shared_ptr<const void> owner,
      const std::vector<std::pair<std::uint64_t, std::uint64_t>>& editions) const;

  /// From now on it is. Make offers anew.
  void add_device(std::unique_ptr<DeviceMemory> memory);

  /// And is not any more: null when it was not.
  std::unique_ptr<DeviceMemory> take_device(ibv_context* device);

  /// Keeps a device open as long as it is registered with that, since it was made.
  void hold_device(ibv_context* device, std::shared_ptr<const void> owner);

  const ExportIdentity& identity() const noexcept { return *identity_; }

  /// One line for the log: name, size, chunks or file, UUID.
  std::string describe() const;

  /// A new size goes through these, in this order; nothing else of it happens meanwhile. When it
  /// gets smaller, cut() comes once nobody knows a larger edition, and these are destroyed.

  /// Why it cannot have a size; nothing when it can, as far as shows at once.
  std::optional<std::string> refuse_size(std::uint64_t size) const;

  /// The size that its file has got by other means, if those are the only ones: a block device, or
  /// a file that is only read. Nothing for others.
  std::optional<std::uint64_t> size_of_its_own() const noexcept;

  /// Makes what the new size takes. Blocks; any thread. Throws Error; nothing has changed then.
  void prepare_resize(std::uint64_t size);

  /// Offers it with the new size: make offers anew.
  void publish_resize();

  /// Gives that up in place of publish_resize(), for a smaller size. Blocks; any thread.
  void abandon_resize() noexcept;

  /// Lets go of what is behind the new size. Blocks; any thread. Throws Error.
  void cut();

  /// What it is and was offered as.
  Editions& editions() noexcept { return editions_; }

  /// What its memory takes of all devices.
  Footprint footprint() const noexcept;

  /// Its file; null when there is none.
  FileStore* store() const noexcept { return store_.get(); }

  /// Notes, durably, that it is about to be served: only a stop in order will say again that
  /// nothing is missing of its file. Throws Error.
  void begin();

  /// Makes the file hold everything that was written, on stable storage, when no queue is left.
  /// Blocks; logs what fails. Of several exports, each on a thread. After a failure it may be
  /// served on, and be settled again.
  /// @return whether it does.
  bool settle() noexcept;

  /// Notes that it is settled, and that nothing comes after that. Throws Error.
  void mark_clean();

  /// Whether its memory is worth something to the next process.
  bool is_kept() const noexcept { return record_ != nullptr; }
  /// Whether the service manager has it already.
  bool is_in_store() const noexcept { return in_store_; }
  void set_in_store() noexcept { in_store_ = true; }
  /// The descriptors of both. @pre is_kept()
  int memory_fd() const noexcept { return memory_->fd(); }
  int record_fd() const noexcept { return record_->fd(); }
  MemoryRecord record() const noexcept { return record_->record(); }

  /// Gives its memory away, at the end, when no device and no thread uses it any more.
  /// @pre is_kept()
  KeptMemory release();

  /// Whether settle() has anything to do.
  bool needs_settling() const noexcept { return stored_ != nullptr; }

  /// The path of the file that gets its content. @pre needs_settling()
  std::string backing_path() const;

  /// Null when it is read-only or shared.
  const Lease* lease() const noexcept { return lease_.get(); }

  /// Who uses it, through its offers.
  ExportUse& use() noexcept { return use_; }

  /// Whether it has what nothing else may have: memory alone, which somebody could write to, or
  /// which an earlier process has left.
  bool holds_data() const noexcept {
    return memory_ != nullptr && !is_backed() && (inherits_ || use_.was_writable());
  }

  /// Changes who may have it; its offers follow.
  void set_rules(AccessRules rules) { spec_.rules = std::move(rules); }

  /// The same of who asked for it.
  void set_origin(ExportOrigin origin) noexcept { spec_.origin = origin; }

  /// Null when it is not resident.
  ResidentStore* resident() const noexcept { return resident_.get(); }

 private:
  /// Whether a file gets to hold what lies in memory.
  bool is_backed() const noexcept { return store_ != nullptr || !spec_.save.empty(); }
  bool is_current(const MemoryRecord& record) const;
  bool is_newer_than_save(const MemoryRecord& record) const;
  void make_memory(std::optional<KeptMemory> kept, std::optional<int> node);
  std::unique_ptr<RecordMemory> make_record() const;
  void identify_by_state(const MemoryRecord* inherited);
  void fill_memory();
  bool save() noexcept;
  protocol::Uuid backing() const;
  struct Registrations {
    std::shared_ptr<const void> device;  ///< keeps it open
    Registration read_only;
    std::optional<Registration> read_write;
  };
  std::shared_ptr<Registrations> make_registrations(ibv_context* device) const;
  Edition::Tables make_tables(const std::shared_ptr<Registrations>& registrations,
                              std::uint64_t number, std::uint64_t size,
                              const Edition::Tables* before) const;
  std::unique_ptr<Edition> make_edition(std::uint64_t size) const;
  void grow(std::uint64_t size);
  void give_up_growth() noexcept;
  void adopt_size(const MemoryRecord& record);
  bool was_being_resized(const MemoryRecord& record) const;
  void add_grants(Offer& offer, ibv_context* device) const;
  void add_file(Offer& offer) const;

  ExportSpec spec_;
  Options options_;
  ExportUse use_;
  std::optional<SavePlace> save_place_;
  FileFingerprint file_;  ///< if it has one
  std::unique_ptr<RecordMemory> record_;
  bool inherits_ = false;  ///< an earlier process left its memory
  bool in_store_ = false;
  std::unique_ptr<ExportIdentity> identity_;
  StoredIdentity* stored_ = nullptr;  ///< the same, when it is kept in the state directory
  std::unique_ptr<Lease> lease_;
  std::unique_ptr<FileStore> store_;
  std::unique_ptr<MemoryBacking> memory_;
  std::unique_ptr<ResidentStore> resident_;
  std::map<ibv_context*, std::shared_ptr<Registrations>> registrations_;
  Editions editions_;              ///< their tables lie in these
  std::unique_ptr<Edition> next_;  ///< is being made, or waits to be published
};

class Export::DeviceMemory {
 public:
  ibv_context* device() const noexcept { return device_; }

 private:
  friend class Export;
  ibv_context* device_ = nullptr;
  std::shared_ptr<Registrations> registrations_;
  std::map<std::uint64_t, Edition::Tables> tables_;  ///< by the editions' numbers
};

}  // namespace rdmablk::target
