#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/log_limiter.h"
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

  /// Whether a process that is gone was about to give a file and its memory another size, of which
  /// one has `first` bytes now and the other `second`. Throws SystemError.
  static bool was_being_resized(const StateDirectory& directory, const std::string& key,
                                std::uint64_t first, std::uint64_t second);

  /// Whether a file has so many bytes because it was resized while it was served. Throws
  /// SystemError. @param incarnation FileFingerprint::incarnation.
  static bool was_resized_to(const StateDirectory& directory, const std::string& key,
                             const std::string& incarnation, std::uint64_t size);

  /// Has the record of the memory say the same, from now on. Before other threads use it.
  /// @param memory outlives this.
  void mirror(RecordMemory& memory);

  /// Notes, durably, that a target runs: before the export is offered. Throws Error.
  void begin();

  const protocol::Uuid& uuid() const noexcept override { return state_.uuid; }
  protocol::Generation generation() const override;
  std::uint64_t last_lease() const noexcept override;
  std::uint64_t next_lease() override;
  void note_writer() noexcept override;
  void mark_lost() noexcept override;
  void begin_resize(std::uint64_t size) override;
  void end_resize(std::uint64_t size) override;
  void cancel_resize() noexcept override;

  /// Notes, durably, that the target ends with all content in the file and on stable storage: to be
  /// said last. Throws Error.
  /// @param file FileFingerprint::incarnation, which is another one when the file was written anew.
  void mark_clean(const std::string& file);

 private:
  std::optional<ExportState> find() const;
  void adopt(const std::optional<ExportState>& before);
  void adopt(const MemoryRecord& inherited, const std::optional<ExportState>& before);
  void write(const ExportState& state) const;
  void note_size(std::uint64_t size, std::optional<std::uint64_t> next);
  void update_mirror(bool is_suspect) noexcept;
  void tell(const std::string& trouble);

  const StateDirectory& directory_;
  std::string name_;
  std::string file_name_;
  std::mutex writing_;   ///< one writes the file, and the record, at a time
  LogLimiter troubles_;  ///< with writing them; each flush that fails may cause some
  RecordMemory* mirror_ = nullptr;
  mutable std::mutex mutex_;
  ExportState state_;
};

}  // namespace rdmablk::target
