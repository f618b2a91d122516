#pragma once

#include <chrono>
#include <cstdint>

#include "initiator/cli/bench_options.h"

namespace rdmablk::cli {

/// Draws how a benchmark goes, over and over on the same line of standard error when that is a
/// terminal; nothing on anything else. Clears the line at the end.
class BenchProgress {
 public:
  using Seconds = std::chrono::duration<double>;

  /// @param options outlive this.
  explicit BenchProgress(const BenchOptions& options);
  ~BenchProgress();
  BenchProgress(const BenchProgress&) = delete;
  BenchProgress& operator=(const BenchProgress&) = delete;

  /// @param operations requests that have ended since the beginning.
  void draw(Seconds elapsed, std::uint64_t operations);

 private:
  const BenchOptions& options_;
  bool is_terminal_;
  bool drawn_ = false;
  Seconds last_elapsed_{};
  std::uint64_t last_operations_ = 0;
};

}  // namespace rdmablk::cli
