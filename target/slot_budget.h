#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

namespace rdmablk::target {

/// What may be used of something: the memory of the slots of file exports, or I/O queues. Any
/// thread.
class SlotBudget {
 public:
  /// A part of it, given back at the end.
  class Share {
   public:
    Share() noexcept = default;
    Share(SlotBudget& budget, std::uint64_t bytes) noexcept : budget_(&budget), bytes_(bytes) {}
    ~Share() {
      if (budget_ != nullptr) budget_->used_ -= bytes_;
    }
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    explicit operator bool() const noexcept { return budget_ != nullptr; }

   private:
    SlotBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  /// @param limit bytes, or queues.
  explicit SlotBudget(std::uint64_t limit) noexcept : limit_(limit) {}
  SlotBudget(const SlotBudget&) = delete;
  SlotBudget& operator=(const SlotBudget&) = delete;

  std::uint64_t limit() const noexcept { return limit_; }

  /// On the thread that takes.
  void raise(std::uint64_t limit) noexcept { limit_ = std::max(limit_, limit); }

  std::uint64_t used() const noexcept { return used_; }

  /// @return an empty share when there is not so much left.
  Share take(std::uint64_t bytes) noexcept {
    std::uint64_t used = used_;
    do {
      if (bytes > limit_ || used > limit_ - bytes) return {};
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return {*this, bytes};
  }

 private:
  std::uint64_t limit_;
  std::atomic<std::uint64_t> used_ = 0;
};

}  // namespace rdmablk::target
