#include "initiator/cli/bench_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace rdmablk::cli {

BenchProgress::BenchProgress(const BenchOptions& options)
    : options_(options), is_terminal_(isatty(STDERR_FILENO) == 1) {}

BenchProgress::~BenchProgress() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void BenchProgress::draw(Seconds elapsed, std::uint64_t operations) {
  if (!is_terminal_) return;
  const double interval = std::max((elapsed - last_elapsed_).count(), 1e-3);
  const double iops = static_cast<double>(operations - last_operations_) / interval;
  const double mib = iops * static_cast<double>(options_.block_size) / (1U << 20U);
  std::fprintf(stderr, "\r\033[K%.0f/%.0f s  %.0f IOPS  %.1f MiB/s", elapsed.count(),
               Seconds(options_.time).count(), iops, mib);
  drawn_ = true;
  last_elapsed_ = elapsed;
  last_operations_ = operations;
}

}  // namespace rdmablk::cli
