#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/protocol/messages.h"
#include "target/catalog.h"
#include "target/export_identity.h"
#include "target/export_spec.h"
#include "target/file_store.h"
#include "target/memory_backing.h"
#include "target/registration.h"
#include "target/resident_store.h"
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
  };

  /// Makes the memory, loads it from the file, and registers it.
  /// @param spec with the size of its file. @param store its file, if it has one.
  /// @param devices those that it is offered on; they outlive the export. Throws Error.
  Export(const ExportSpec& spec, std::unique_ptr<FileStore> store,
         std::span<ibv_context* const> devices, const Options& options);

  const ExportSpec& spec() const noexcept { return spec_; }

  /// The export as sessions of one of its devices see it; valid as long as the export.
  Offer offer(ibv_context* device) const;

  /// One line for the log: name, size, chunks or file, UUID.
  std::string describe() const;

  /// Its file; null when there is none.
  FileStore* store() const noexcept { return store_.get(); }

  /// Makes the file hold everything that was written, on stable storage, when no queue is left.
  /// Blocks; logs what fails. Of several exports, each on a thread.
  /// @return whether it does.
  bool settle() noexcept;

  /// Notes that it is settled, and that nothing comes after that. Throws Error.
  void mark_clean();

  /// Null when it is not resident.
  ResidentStore* resident() const noexcept { return resident_.get(); }

 private:
  void identify();
  struct Registrations {
    Registration read_only;
    std::optional<Registration> read_write;
  };
  Registrations register_with(ibv_context* device) const;
  void add_grants(Offer& offer, ibv_context* device) const;
  void add_file(Offer& offer) const;

  ExportSpec spec_;
  Options options_;
  std::unique_ptr<ExportIdentity> identity_;
  StoredIdentity* stored_ = nullptr;  ///< the same, when it is kept in the state directory
  std::unique_ptr<FileStore> store_;
  std::unique_ptr<MemoryBacking> memory_;
  std::unique_ptr<ResidentStore> resident_;
  std::map<ibv_context*, Registrations> registrations_;
};

}  // namespace rdmablk::target
