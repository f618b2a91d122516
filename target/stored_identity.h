#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "target/export_identity.h"
#include "target/export_state.h"
#include "target/memory_record.h"
#include "target/state_directory.h"

namespace rdmablk::target {

/// The identity of an export whose content lasts as long as a file: kept in the state directory,
/// and taken up again when everything that was acknowledged is still there.
class StoredIdentity final : public ExportIdentity {
 public:
  /// Finds what is known of the file. Says in the log what could not be taken up. Throws Error.
  /// @param directory outlives this. @param name of the export, for messages. @param path of the
  /// file. @param key FileFingerprint::file_name() of it.
  StoredIdentity(const StateDirectory& directory, std::string name, std::string path,
                 std::string key, const FoundContent& content);

  /// Has the record of the memory say the same, from now on. Before other threads use it.
  /// @param memory outlives this.
  void mirror(RecordMemory& memory);

  /// Notes, durably, that a target runs: before the export is offered. Throws Error.
  void begin();

  const protocol::Uuid& uuid() const noexcept override { return state_.uuid; }
  protocol::Generation generation() const override;
  std::uint64_t last_lease() const noexcept override;
  std::uint64_t next_lease() override;
  void mark_lost() noexcept override;

  /// Notes, durably, that the target ends with all content in the file and on stable storage: to be
  /// said last. Throws Error.
  /// @param file FileFingerprint::incarnation, which is another one when the file was written anew.
  void mark_clean(const std::string& file);

 private:
  std::optional<ExportState> find() const;
  void adopt(const std::optional<ExportState>& before);
  void adopt(const MemoryRecord& inherited, const std::optional<ExportState>& before);
  void write(const ExportState& state) const;
  void update_mirror(bool is_suspect) noexcept;

  const StateDirectory& directory_;
  std::string name_;
  std::string file_name_;
  std::mutex writing_;  ///< one writes the file, and the record, at a time
  RecordMemory* mirror_ = nullptr;
  mutable std::mutex mutex_;
  ExportState state_;
};

}  // namespace rdmablk::target
