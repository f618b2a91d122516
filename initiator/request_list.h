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

 private:
  Request* first_ = nullptr;
  Request* last_ = nullptr;
};

}  // namespace rdmablk::initiator
