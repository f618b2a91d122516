#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::testing {

/// A log of device mapper's log-writes target
/// (Documentation/admin-guide/device-mapper/log-writes.rst): a super block of one sector, then the
/// entries, each one sector and behind it the data written. Used by one thread.
class WriteLog {
 public:
  enum Flag : std::uint64_t {
    kFlush = 1U << 0U,
    kFua = 1U << 1U,
    kDiscard = 1U << 2U,
    kMark = 1U << 3U,
    kMetadata = 1U << 4U,
  };

  struct Entry {
    std::uint64_t index = 0;
    std::uint64_t flags = 0;
    std::uint64_t offset = 0;     ///< bytes, on the device that was written
    std::uint64_t length = 0;     ///< bytes written or discarded
    std::string mark;             ///< what user space called this moment
    std::vector<std::byte> data;  ///< empty for a discard
  };

  /// Throws Error when `path` holds no such log.
  explicit WriteLog(const std::string& path);

  std::uint64_t size() const noexcept { return entries_; }

  /// The next entry, nothing at the end. Throws Error for what cannot be read.
  std::optional<Entry> next();

 private:
  std::vector<std::byte> read(std::uint64_t length);

  std::string path_;
  UniqueFd file_;
  std::uint64_t entries_ = 0;
  std::uint64_t sector_size_ = 512;
  std::uint64_t position_ = 0;  // bytes
  std::uint64_t index_ = 0;
};

}  // namespace rdmablk::testing
