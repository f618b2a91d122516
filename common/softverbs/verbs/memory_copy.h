#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/softverbs/verbs/limits.h"

namespace softverbs {

/// The local side of a transfer: pieces of this process's memory in order. It owns no memory.
class PieceList {
 public:
  void add(uint64_t address, size_t length) {
    if (length == 0) return;
    pieces_[count_++] = {reinterpret_cast<void*>(address), length};
    length_ += length;
  }
  [[nodiscard]] size_t length() const { return length_; }
  [[nodiscard]] std::span<const iovec> pieces() const { return {pieces_.data(), count_}; }

  /// The pieces of the range [offset, offset + length) of this list.
  [[nodiscard]] PieceList slice(size_t offset, size_t length) const;

 private:
  std::array<iovec, kMaxSge> pieces_;
  size_t count_ = 0;
  size_t length_ = 0;
};

/// How a copy from or to another process ended.
enum class CopyResult {
  kDone,
  kRefused,  ///< The kernel does not let this process at the other's memory.
  kGone,     ///< There is no such process.
  kFault,    ///< Memory that is not there (any more).
};

/// Copies the way a device does: no sanitizer looks at it, as none looks at DMA. One-sided
/// transfers are unknown to the program that owns the memory, so it cannot synchronise with them.
void copy_raw(void* to, const void* from, size_t length);

/// Copies consecutive bytes at `from` into the pieces, or the pieces to consecutive bytes at `to`.
void scatter(const PieceList& pieces, const void* from);
void gather(const PieceList& pieces, void* to);

/// Copies between local pieces and consecutive memory of process `pid` at `remote`.
CopyResult write_process(pid_t pid, const PieceList& local, uint64_t remote);
CopyResult read_process(pid_t pid, const PieceList& local, uint64_t remote);

}  // namespace softverbs
