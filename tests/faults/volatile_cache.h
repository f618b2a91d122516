#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk::testing {

/// A disk with a volatile write cache: what is written is held in memory, readable at once, and
/// reaches the backing file with flush() alone. Whoever kills the process cuts the power.
///
/// A sector (512 bytes) is written whole or not at all, as disks have it. All methods may be called
/// from any thread; those that return int return 0 or a positive errno value. Ranges must lie
/// within size().
class VolatileCache {
 public:
  struct Counters {
    std::size_t held = 0;  ///< sectors that a power cut would lose
    std::size_t lost = 0;  ///< sectors that can be read but will never be written
    std::uint64_t flushes = 0;
  };

  /// Throws Error unless the file can be opened and has a size that is a multiple of 512.
  explicit VolatileCache(const std::string& backing_path);

  std::uint64_t size() const noexcept { return size_; }

  int read(std::uint64_t offset, std::span<std::byte> data);
  int write(std::uint64_t offset, std::span<const std::byte> data);
  int zero(std::uint64_t offset, std::uint64_t length);

  /// Writes all that was held when it was called to the backing file, and that to stable storage.
  int flush();

  /// What a flush that fails leaves behind, as in a kernel's page cache: all that is held counts as
  /// clean now. It can be read, and no flush will ever write it.
  void forget();

  /// Writes a random part of what is held to the backing file, as real caches do when they like.
  /// Nothing while a flush runs.
  int persist_some(std::mt19937_64& random);

  Counters counters();

 private:
  using Block = std::array<std::byte, 512>;
  using Sectors = std::map<std::uint64_t, std::unique_ptr<Block>>;  // nullptr: zeroes

  int load(std::uint64_t sector, Block& block) const;
  int patch(std::uint64_t sector, std::size_t start, std::span<const std::byte> data);
  void put(std::uint64_t sector, std::unique_ptr<Block> block);
  void overlay(const Sectors& sectors, std::uint64_t offset, std::span<std::byte> data) const;
  int write_out() const;
  int write_run(Sectors::const_iterator& next) const;

  UniqueFd backing_;
  std::uint64_t size_ = 0;

  std::mutex writing_out_;  // held around the use of flushing_; locked before mutex_
  std::mutex mutex_;
  // From the newest to the oldest; the backing file comes last.
  Sectors held_;
  Sectors flushing_;  // changes under both locks
  Sectors lost_;
  std::uint64_t flushes_ = 0;
};

}  // namespace rdmablk::testing
