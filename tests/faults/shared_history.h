#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/memory_mapping.h"
#include "common/unique_fd.h"
#include "tests/faults/history_checker.h"

namespace rdmablk::faults {

enum class RecordKind : std::uint32_t {
  begin,     ///< A write of `tag` to `word` is about to be submitted, at `start`.
  end,       ///< It was acknowledged, at `end`.
  fail,      ///< It came back with an error.
  settle,    ///< What this lane told to have failed, from `tag` on, cannot take effect after `end`.
  attached,  ///< A new session begins; `end` is when it was there.
  take_over,  ///< The same, and it has taken the lease over from all others, between start and end.
  read,       ///< `tag` was read from `word`, between `start` and `end`.
};

struct Record {
  RecordKind kind = RecordKind::begin;
  std::uint32_t word = 0;
  Tag tag = 0;
  Time start = 0;
  Time end = 0;
};

/// What one writer, a thread with a queue, tells: a ring of records, written by its owner and read
/// by the verifier. All of it lies in memory that processes share, so a writer that is killed
/// leaves what it has told.
struct Lane {
  static constexpr std::size_t kRecords = 1U << 14U;

  std::atomic<std::int64_t> owner;  ///< The process; 0: free. Freed by the verifier or its owner.
  std::atomic<std::uint64_t> sequence;  ///< The last of its tags, over all owners.
  /// No record that is not in the ring yet began before; kNever when nothing is in flight.
  std::atomic<Time> horizon;
  std::atomic<std::uint64_t> operations;
  std::atomic<std::uint64_t> failures;
  std::atomic<std::uint64_t> recoveries;  ///< Queues that worked again after failures.
  std::atomic<std::uint64_t> sessions;
  std::atomic<std::uint64_t> reconnects;  ///< Within sessions that have ended, of its process.
  alignas(64) std::atomic<std::uint64_t> told;
  alignas(64) std::atomic<std::uint64_t> taken;
  Record records[kRecords];
};

/// What all writers do, agreed on by the verifier.
struct Shape {
  std::uint32_t lanes = 4;
  std::uint32_t blocks = 16;
  std::uint32_t block_words = 8;  ///< of 8 bytes
  std::uint64_t offset = 0;       ///< bytes from the start of the export to the first block
  std::uint32_t repeated = 0;     ///< Effects::repeated

  std::size_t words() const noexcept { return std::size_t{blocks} * block_words; }
  Effects effects() const noexcept { return repeated != 0 ? Effects::repeated : Effects::once; }
};

/// The history that several processes write and one verifies: a file, or memory of one process.
class SharedHistory {
 public:
  /// For writers in this process. Throws SystemError.
  static SharedHistory in_memory(const Shape& shape);
  /// Makes the file, or makes it anew. Throws SystemError.
  static SharedHistory create(const std::string& path, const Shape& shape);
  /// Opens what `create` has made. Throws Error.
  static SharedHistory open(const std::string& path);

  const Shape& shape() const noexcept { return header().shape; }
  Lane& lane(unsigned index) const noexcept { return lanes()[index]; }
  /// Takes a free lane for this process; the verifier frees those of processes that have died.
  /// @return null when there is none.
  Lane* claim() const noexcept;
  unsigned index_of(const Lane& lane) const noexcept {
    return static_cast<unsigned>(&lane - lanes());
  }

  /// Tells all writers to end.
  void stop() const noexcept { header().stop.store(1); }
  bool stopped() const noexcept { return header().stop.load(std::memory_order_relaxed) != 0; }

 private:
  struct Header {
    std::uint64_t magic;
    Shape shape;
    std::atomic<std::uint32_t> stop;
  };

  SharedHistory(MemoryMapping mapping) noexcept : mapping_(std::move(mapping)) {}
  static SharedHistory make(int fd, const Shape& shape);
  Header& header() const noexcept { return *reinterpret_cast<Header*>(mapping_.data()); }
  Lane* lanes() const noexcept;

  MemoryMapping mapping_;
};

/// Now, on the clock of the history.
Time now() noexcept;

}  // namespace rdmablk::faults
