#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/softverbs/file_descriptor.h"

namespace softverbs {

/// Where a range of this process's memory lies in a memfd.
struct MemfdRange {
  std::shared_ptr<const FileDescriptor> memfd;  ///< The library's own; ranges of one file share it.
  uint64_t offset = 0;                          ///< Of the range's first byte in the file.
};

/// Finds the memfds behind this process's memory, so that peers can map them. Thread-safe.
class MemfdRegistry {
 public:
  /// \return where [address, address + length) lies; nothing unless all of it is a shared mapping
  ///         of one memfd, in order, that cannot shrink (F_SEAL_SHRINK) and of which the process
  ///         has a descriptor. A peer that maps such a range never meets SIGBUS in it.
  std::optional<MemfdRange> find(uint64_t address, size_t length);

 private:
  using FileId = std::pair<uint64_t, uint64_t>;  ///< Device and inode.

  std::shared_ptr<const FileDescriptor> descriptor_of(const FileId& file);

  std::mutex mutex_;
  std::map<FileId, std::weak_ptr<const FileDescriptor>> known_;
};

}  // namespace softverbs
