#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/protocol/messages.h"
#include "common/unique_fd.h"
#include "target/export_state.h"

namespace rdmablk::target {

/// What has to be known of an export's memory by a process that takes it over. Goes from process to
/// process on one machine as it lies in memory; kRecordVersion changes with it.
struct MemoryRecord {
  std::array<char, 64> name{};  ///< of the export; ends with a zero
  std::uint64_t size = 0;       ///< bytes
  std::uint64_t huge_page = 0;  ///< bytes; zero: the usual pages
  MemoryId memory{};            ///< tells it from memory that had its place before
  protocol::Uuid uuid{};
  protocol::Generation generation{};
  std::uint64_t lease = 0;         ///< the last number that was given
  protocol::Uuid backing{};        ///< made of the file that it is to be written to, or of the
                                   ///< path that it is to be saved to; zero: none
  std::array<char, 40> changed{};  ///< FileFingerprint::changed when it was equal to its file
  protocol::ExportKind kind = protocol::ExportKind::memory;
  bool is_dirty = false;    ///< no file may have what is in memory
  bool is_suspect = false;  ///< the file may lack even what reading it shows: a flush failed
  bool is_resized = false;  ///< its size was changed while it was served
  bool is_unused = false;   ///< nobody was ever let write to it
  std::array<std::uint8_t, 3> unused{};
};

/// Puts a text into a field of a record, and takes it out. @pre it fits.
template <std::size_t N>
void set_text(std::array<char, N>& field, std::string_view text) {
  field = {};
  text.copy(field.data(), N - 1);
}
template <std::size_t N>
std::string text_of(const std::array<char, N>& field) {
  return std::string(field.data());
}

/// Whether a file has everything that is in the memory, as far as its record tells.
bool is_in_file(const MemoryRecord& record) noexcept;

/// Whether nothing is lost with the memory.
inline bool is_expendable(const MemoryRecord& record) noexcept {
  return record.is_unused || is_in_file(record);
}

/// A record in a memfd of its own. What update() was given is there for the next process, whenever
/// this one is killed.
class RecordMemory {
 public:
  /// Makes the memfd. Throws SystemError.
  explicit RecordMemory(const MemoryRecord& record);

  /// Takes over one that another process made. Throws Error when it is no such memfd, or damaged;
  /// the text says what it is: "is no memfd".
  explicit RecordMemory(UniqueFd fd);

  const MemoryRecord& record() const noexcept { return record_; }

  /// One thread at a time.
  void update(const MemoryRecord& record) noexcept;

  int fd() const noexcept { return fd_.get(); }

 private:
  void write() noexcept;

  UniqueFd fd_;
  MemoryRecord record_;
  std::uint64_t sequence_ = 0;
};

}  // namespace rdmablk::target
