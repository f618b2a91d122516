#pragma once

#include <optional>

#include "target/io_uring.h"

namespace rdmablk::target {

/// An operation that remembers how it ended.
class RecordedOperation final : public RingOperation {
 public:
  std::optional<int> result;
  void on_result(int value) noexcept override { result = value; }
};

/// Submits an operation and waits for its end.
inline int result_of(IoUring& ring, RecordedOperation& operation) {
  operation.result.reset();
  ring.submit(operation);
  while (!operation.result) ring.run(true);
  return *operation.result;
}

}  // namespace rdmablk::target
