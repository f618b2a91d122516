#pragma once

#include <atomic>
#include <cstdint>

#include "target/backing_file.h"
#include "target/file_counters.h"
#include "target/file_figures.h"
#include "target/flush_group.h"
#include "target/range_lock.h"

namespace rdmablk::target {

/// A file behind an export, and what all who write to it share. Any thread.
class FileStore {
 public:
  /// Opens or makes the file. @param number of the file on every ring. Throws Error.
  FileStore(const ExportSpec& spec, unsigned number)
      : file_(spec), number_(number), flushes_(number) {}

  /// See BackingFile. Before other threads use it.
  void keep() noexcept { file_.keep(); }

  const BackingFile& file() const noexcept { return file_; }
  BackingFile& file() noexcept { return file_; }

  /// Uses more of the file, which is there already.
  void grow_to(std::uint64_t size) noexcept { file_.set_size(size); }

  /// Uses no more of the file than that, and makes it as long once all writes behind it are
  /// through; blocks. One that comes later finds the new size when it holds the lock. Throws Error.
  void cut_to(std::uint64_t size);

  unsigned number() const noexcept { return number_; }
  RangeLock& ranges() noexcept { return ranges_; }
  FlushGroup& flushes() noexcept { return flushes_; }
  FileCounters& counters() noexcept { return counters_; }

  FileFigures figures() const { return {counters_.figures(), flushes_.syncs()}; }

  /// Whether fallocate(2) gives space back, or zeroes without writing. Holds until it was tried in
  /// vain.
  bool can_punch() const noexcept { return can_punch_; }
  bool can_zero() const noexcept { return can_zero_; }
  void cannot_punch() noexcept { can_punch_ = false; }
  void cannot_zero() noexcept { can_zero_ = false; }

  /// A request failed: logs it, of many the first, second, fourth and so on.
  /// @param doing "write". @param error an errno value.
  void report(const char* doing, std::uint64_t offset, int error) noexcept;

 private:
  BackingFile file_;
  unsigned number_;
  RangeLock ranges_;
  FlushGroup flushes_;
  FileCounters counters_;
  std::atomic<bool> can_punch_ = true;
  std::atomic<bool> can_zero_ = true;
  std::atomic<std::uint64_t> failures_ = 0;
};

}  // namespace rdmablk::target
