#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/protocol/io_messages.h"

namespace rdmablk::initiator {

/// Which parts of an image were written since they were last flushed, in granules of a power of
/// two: the fewer bytes the larger the image, 4 KiB at least, so that the map stays small. Any
/// thread marks, at any time, without a lock; one at a time flushes.
///
/// The size may change. The granules do not: what lies behind the last one belongs to it, if the
/// image has grown so much.
///
/// A flush takes what is marked into a snapshot, whose ranges it hands over; when it fails it puts
/// the snapshot back. Whoever writes marks before the data goes out and again before the write is
/// acknowledged: so a flush that begins after the acknowledgement has it in its snapshot, or an
/// earlier one that ends before this begins.
class DirtyMap {
 public:
  /// @param size bytes of the image, not 0.
  explicit DirtyMap(std::uint64_t size);

  /// What is marked past a smaller size is not told any more. Any thread.
  /// @param size bytes, not 0.
  void resize(std::uint64_t size) noexcept { size_ = size; }

  DirtyMap(const DirtyMap&) = delete;
  DirtyMap& operator=(const DirtyMap&) = delete;

  /// Marks a range. @param length not 0; the range lies within the image, or did.
  void mark(std::uint64_t offset, std::uint64_t length) noexcept;

  /// Makes what is marked the snapshot, in place of the one before, and the map clean. What is
  /// marked meanwhile is in one of both.
  void take() noexcept;

  /// Marks again what the snapshot has, which is empty then.
  void restore() noexcept;

  /// Whether nothing is marked, the snapshot aside. Any thread.
  bool is_clean() const noexcept;

  /// The first range of the snapshot at or after an offset, as long as can be and cut to the
  /// image's size. Ranges that follow one another do not touch.
  std::optional<protocol::Range> next(std::uint64_t offset) const noexcept;

  /// Bytes that are marked together.
  std::uint64_t granule() const noexcept { return std::uint64_t{1} << shift_; }

 private:
  using Word = std::uint64_t;
  static constexpr unsigned kBits = 64;

  std::uint64_t granule_mask() const noexcept { return granule() - 1; }
  void mark_word(std::uint64_t index, Word bits) noexcept;
  std::uint64_t find(std::uint64_t from, bool marked) const noexcept;

  std::atomic<std::uint64_t> size_;
  unsigned shift_;  ///< of a granule's size
  std::uint64_t granules_;
  std::vector<std::atomic<Word>> words_;    ///< a bit a granule
  std::vector<std::atomic<Word>> summary_;  ///< a bit a word that may not be zero
  std::vector<Word> snapshot_;
  std::vector<Word> snapshot_summary_;
};

}  // namespace rdmablk::initiator
