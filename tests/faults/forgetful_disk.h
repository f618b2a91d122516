#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "tests/faults/fault_plan.h"
#include "tests/faults/volatile_cache.h"

namespace rdmablk::testing {

/// A disk with a volatile cache and faults. Any thread may use it.
class ForgetfulDisk {
 public:
  struct Settings {
    std::string backing_path;
    std::optional<std::uint64_t> reorder_seed;  ///< persist random sectors without being asked to
    std::uint64_t alignment = 1;                ///< of requests with O_DIRECT, in bytes
    bool no_fallocate = false;
  };

  /// What came of a request: how many bytes were handled, or a positive errno value.
  struct Outcome {
    std::size_t bytes = 0;
    int error = 0;
  };

  /// Throws Error when the backing file cannot be used.
  explicit ForgetfulDisk(const Settings& settings);

  std::uint64_t size() const noexcept { return cache_.size(); }

  /// @param flags those of open(2); O_DIRECT and O_DSYNC count.
  Outcome read(std::uint64_t offset, std::span<std::byte> data, int flags);
  Outcome write(std::uint64_t offset, std::span<const std::byte> data, int flags);
  /// @param mode of fallocate(2): punching holes and zeroing write zeroes, allocating does nothing.
  Outcome allocate(std::uint64_t offset, std::uint64_t length, int mode);
  Outcome sync();

  void order_fault(std::string_view line) { faults_.apply(line); }

  /// What was done and what is held: "reads=N writes=N syncs=N flushes=N held=N lost=N", a line.
  std::string report();

 private:
  Verdict judge(Operation operation, std::uint64_t offset, std::uint64_t length);
  bool is_aligned(int flags, std::uint64_t offset, std::uint64_t length) const;
  std::size_t up_to_the_end(std::uint64_t offset, std::size_t length) const;
  int persist_some();

  const Settings settings_;
  VolatileCache cache_;
  FaultPlan faults_;
  std::mutex random_mutex_;
  std::mt19937_64 random_;
  std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> syncs_ = 0;
};

}  // namespace rdmablk::testing
