#pragma once

#include <cstddef>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// Requests in a row, first in, first out, linked through themselves: a request is in one list at
/// most.
class RequestList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  Request* front() const noexcept { return first_; }

  void push(Request& request) noexcept {
    request.progress.next = nullptr;
    (first_ == nullptr ? first_ : last_->progress.next) = &request;
    last_ = &request;
  }

  /// @pre !empty()
  Request& pop() noexcept {
    Request& request = *first_;
    first_ = request.progress.next;
    request.progress.next = nullptr;
    return request;
  }

  /// Takes a request out, wherever it is; takes time in proportion. @return whether it was there.
  bool remove(const Request& request) noexcept {
    Request* before = nullptr;
    for (Request* at = first_; at != nullptr; before = at, at = at->progress.next) {
      if (at != &request) continue;
      (before == nullptr ? first_ : before->progress.next) = at->progress.next;
      if (last_ == at) last_ = before;
      at->progress.next = nullptr;
      return true;
    }
    return false;
  }

 private:
  Request* first_ = nullptr;
  Request* last_ = nullptr;
};

}  // namespace rdmablk::initiator
