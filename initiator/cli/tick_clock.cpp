#include "initiator/cli/tick_clock.h"

#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace rdmablk::cli {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kCalibration{10};
constexpr int kLooks = 8;

#if defined(__x86_64__)

/// Intel's Software Developer's Manual, volume 3, "Invariant TSC": the same rate whatever the power
/// state. Linux keeps the processors' counters in step, or else hides the bit.
bool counts_evenly() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8U)) != 0;
}

std::uint64_t ticks() noexcept {
  return __rdtsc();
}

#else

bool counts_evenly() {
  return false;
}

std::uint64_t ticks() noexcept {
  return 0;
}

#endif

/// Both clocks at one moment.
struct Moment {
  std::uint64_t ticks = 0;
  steady_clock::time_point time;
  steady_clock::duration doubt = steady_clock::duration::max();
};

/// The least doubtful of some looks: a thread may be interrupted in the middle of one.
Moment look() {
  Moment best;
  for (int i = 0; i < kLooks; ++i) {
    const auto before = steady_clock::now();
    const auto count = ticks();
    const auto doubt = steady_clock::now() - before;
    if (doubt < best.doubt) best = {count, before + doubt / 2, doubt};
  }
  return best;
}

}  // namespace

TickClock::TickClock() {
  if (!counts_evenly()) return;
  const Moment begin = look();
  std::this_thread::sleep_for(kCalibration);
  const Moment end = look();
  if (end.ticks <= begin.ticks) return;
  start_ = begin.ticks;
  nanoseconds_a_tick_ = std::chrono::duration<double, std::nano>(end.time - begin.time).count() /
                        static_cast<double>(end.ticks - begin.ticks);
}

nanoseconds TickClock::now() const noexcept {
  if (nanoseconds_a_tick_ == 0) return steady_clock::now().time_since_epoch();
  const auto passed = static_cast<double>(ticks() - start_);
  return nanoseconds(static_cast<nanoseconds::rep>(passed * nanoseconds_a_tick_));
}

}  // namespace rdmablk::cli
