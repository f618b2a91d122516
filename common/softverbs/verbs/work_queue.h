#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace softverbs {

/// A ring of work requests with room for their scatter/gather lists, made once. Positions count up
/// for ever. A place is taken when a request is posted and free again when its completion, or a
/// later one, was polled. One lock of the owner guards it; `consumed` is set by pollers.
template <typename Request>
class WorkQueue {
 public:
  WorkQueue(uint32_t size, uint32_t max_sge)
      : max_sge_(max_sge), requests_(size), sges_(static_cast<size_t>(size) * max_sge) {}

  [[nodiscard]] bool full() const {
    return posted_ - consumed.load(std::memory_order_acquire) >= requests_.size();
  }
  [[nodiscard]] uint64_t posted() const { return posted_; }
  [[nodiscard]] uint32_t max_sge() const { return max_sge_; }

  Request& at(uint64_t position) { return requests_[position % requests_.size()]; }
  [[nodiscard]] size_t index(uint64_t position) const { return position % requests_.size(); }

  /// Where the scatter/gather list of a position is kept; `max_sge` long.
  ibv_sge* sges(uint64_t position) { return sges_.data() + index(position) * max_sge_; }
  std::span<const ibv_sge> sges_of(uint64_t position) {
    return {sges(position), static_cast<size_t>(at(position).num_sge)};
  }

  /// Makes what was written at position `posted()` part of the queue.
  void advance() { ++posted_; }

  void reset() {
    posted_ = 0;
    consumed.store(0);
  }

  std::atomic<uint64_t> consumed{0};

 private:
  uint32_t max_sge_;
  std::vector<Request> requests_;
  std::vector<ibv_sge> sges_;
  uint64_t posted_ = 0;
};

}  // namespace softverbs
