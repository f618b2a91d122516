#include "initiator/cli/bench_signals.h"

#include <sys/eventfd.h>

#include "common/error.h"

namespace rdmablk::cli {

BenchSignals::BenchSignals()
    : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      abandon_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_ || !abandon_event_) throw SystemError("make an eventfd", errno);
}

void BenchSignals::report() noexcept {
  eventfd_write(event_.get(), 1);  // cannot fail: the counter takes 2^64 - 2 of them
}

void BenchSignals::abandon() noexcept {
  stop();
  abandon_.store(true, std::memory_order_relaxed);
  eventfd_write(abandon_event_.get(), 1);
}

std::uint64_t BenchSignals::take_reports() noexcept {
  eventfd_t reports = 0;
  return eventfd_read(event_.get(), &reports) == 0 ? reports : 0;
}

}  // namespace rdmablk::cli
