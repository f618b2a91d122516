#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/memory_mapping.h"
#include "initiator/image.h"

namespace rdmablk::copy {

enum class Side : std::uint8_t { source, destination };

/// One side of a copy.
struct End {
  initiator::Image* image = nullptr;
  std::uint64_t offset = 0;          ///< bytes: where the copied range begins in it
  std::uint64_t limit = UINT64_MAX;  ///< bytes: its size, where writing does not change that
};

/// Both of them.
struct Ends {
  End source;
  End destination;
};

/// What one worker needs: a way to each end, and memory that both ends' devices reach, so that
/// what comes from one goes to the other from where it lies.
class Lane {
 public:
  /// @param blocks pieces of memory, each of `block_size` bytes. Throws Error, verbs::MemlockError.
  Lane(const Ends& ends, unsigned blocks, std::size_t block_size);

  initiator::Queue& queue(Side side) noexcept { return *way(side).queue; }
  const initiator::MemoryKeys* keys(Side side) const noexcept {
    const auto& registration = way(side).registration;
    return registration ? &registration->keys() : nullptr;
  }
  std::uint64_t offset(Side side) const noexcept { return way(side).offset; }
  std::uint64_t limit(Side side) const noexcept { return way(side).limit; }
  std::span<std::byte> memory() const noexcept { return memory_.bytes(); }
  unsigned blocks() const noexcept { return blocks_; }
  std::size_t block_size() const noexcept { return block_size_; }

 private:
  struct Way {
    std::uint64_t offset = 0;
    std::uint64_t limit = 0;
    std::unique_ptr<initiator::Registration> registration;
    std::unique_ptr<initiator::Queue> queue;  // goes before the memory that it works on
  };

  Way& way(Side side) noexcept { return ways_[static_cast<std::size_t>(side)]; }
  const Way& way(Side side) const noexcept { return ways_[static_cast<std::size_t>(side)]; }
  void open(Side side, const End& end);

  MemoryMapping memory_;
  unsigned blocks_;
  std::size_t block_size_;
  std::array<Way, 2> ways_;
};

/// Requests that a queue of a lane works on at once: those longer than this are cut on their way.
unsigned queue_depth(unsigned blocks, std::size_t block_size) noexcept;

}  // namespace rdmablk::copy
