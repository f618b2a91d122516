#pragma once

#include <atomic>
#include <cstdint>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// What one queue has done over one path: counted by the queue's thread, seen by any. A line of
/// cache for itself.
class alignas(64) PathUse {
 public:
  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
  };

  /// A request is handed to the connection.
  void begin() noexcept { add(begun_, 1); }

  /// One has come back from it.
  void end(const Request& request) noexcept {
    add(ended_, 1);
    if (request.error != 0) return;
    add(requests_, 1);
    if (request.operation == Operation::read) add(bytes_read_, request.length);
    if (request.operation == Operation::write) add(bytes_written_, request.length);
  }

  /// The connection is gone, with what was under way.
  void give_up() noexcept { ended_.store(begun_.load(kRelaxed), kRelaxed); }

  Counts counts() const noexcept {
    return {requests_.load(kRelaxed), bytes_read_.load(kRelaxed), bytes_written_.load(kRelaxed)};
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
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::atomic<bool> is_connected_ = false;
};

}  // namespace rdmablk::initiator
