#pragma once

#include <cstdint>
#include <vector>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// Which request each outstanding work request belongs to; a slot's number is the work request's
/// wr_id.
class WorkSlots {
 public:
  explicit WorkSlots(unsigned capacity) : requests_(capacity), free_(capacity) {
    for (unsigned i = 0; i < capacity; ++i) free_[i] = i;
  }

  /// How many can be taken.
  unsigned room() const noexcept { return static_cast<unsigned>(free_.size()); }

  /// Whether none is taken.
  bool all_free() const noexcept { return free_.size() == requests_.size(); }

  /// @param request null for a work request that belongs to none. @pre room() > 0
  std::uint64_t take(Request* request) noexcept {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    requests_[slot] = request;
    return slot;
  }

  /// What a number was taken for; null for one that is no slot, or belongs to no request.
  Request* find(std::uint64_t slot) const noexcept {
    return slot < requests_.size() ? requests_[slot] : nullptr;
  }

  /// Gives a slot back. @return what it was taken for.
  Request* release(std::uint64_t slot) noexcept {
    free_.push_back(static_cast<std::uint32_t>(slot));  // within its first capacity
    Request* const request = requests_[slot];
    requests_[slot] = nullptr;
    return request;
  }

  /// Gives all back that belong to requests, calling `visit` with each one's request.
  template <typename Visit>
  void release_all(Visit visit) noexcept {
    for (std::uint32_t slot = 0; slot < requests_.size(); ++slot) {
      if (requests_[slot] != nullptr) visit(*release(slot));
    }
  }

 private:
  std::vector<Request*> requests_;
  std::vector<std::uint32_t> free_;
};

}  // namespace rdmablk::initiator
