#pragma once

#include <atomic>
#include <cstdint>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// What one queue has done over one path: counted by the queue's thread, seen by any. A line of
/// cache for itself.
class alignas(64) PathUse {
 public:
  /// Requests that have ended well.
  struct Counts {
    std::uint64_t reads = 0;
    std::uint64_t writes = 0;
    std::uint64_t others = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;

    Counts& operator+=(const Counts& more) noexcept {
      reads += more.reads;
      writes += more.writes;
      others += more.others;
      bytes_read += more.bytes_read;
      bytes_written += more.bytes_written;
      return *this;
    }
  };

  /// A request is handed to the connection.
  void begin() noexcept { add(begun_, 1); }

  /// One has come back from it.
  void end(const Request& request) noexcept {
    add(ended_, 1);
    if (request.error != 0) return;
    if (request.operation == Operation::read) {
      add(reads_, 1);
      add(bytes_read_, request.length);
    } else if (request.operation == Operation::write) {
      add(writes_, 1);
      add(bytes_written_, request.length);
    } else {
      add(others_, 1);
    }
  }

  /// The connection is gone, with what was under way.
  void give_up() noexcept { ended_.store(begun_.load(kRelaxed), kRelaxed); }

  Counts counts() const noexcept {
    return {reads_.load(kRelaxed), writes_.load(kRelaxed), others_.load(kRelaxed),
            bytes_read_.load(kRelaxed), bytes_written_.load(kRelaxed)};
  }

  /// How many have come back, whatever came of them.
  std::uint64_t ended() const noexcept { return ended_.load(kRelaxed); }
  bool is_busy() const noexcept { return begun_.load(kRelaxed) != ended_.load(kRelaxed); }

  /// Whether the queue's connection goes over this path now. Said by the control thread.
  void set_connected(bool is_connected) noexcept { is_connected_.store(is_connected, kRelaxed); }
  bool is_connected() const noexcept { return is_connected_.load(kRelaxed); }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  /// There is one who adds.
  static void add(std::atomic<std::uint64_t>& to, std::uint64_t count) noexcept {
    to.store(to.load(kRelaxed) + count, kRelaxed);
  }

  std::atomic<std::uint64_t> begun_ = 0;
  std::atomic<std::uint64_t> ended_ = 0;
  std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> others_ = 0;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::atomic<bool> is_connected_ = false;
};

}  // namespace rdmablk::initiator
