#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "common/metrics/error_kind.h"
#include "common/metrics/latency_histogram.h"

namespace rdmablk::metrics {

/// What a request to an image does; as initiator::Operation has it.
enum class IoKind : std::uint8_t { read, write, flush, zero, discard, map };

inline constexpr std::size_t kIoKinds = 6;

inline constexpr std::array<const char*, kIoKinds> kIoKindNames{"read", "write",   "flush",
                                                                "zero", "discard", "map"};

/// What is known of the requests of one kind.
struct IoKindFigures {
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  std::uint64_t bytes = 0;  ///< of those that succeeded
  std::array<std::uint64_t, kErrorKinds> errors{};
  LatencyFigures latency;  ///< of those that ended

  IoKindFigures& operator+=(const IoKindFigures& other) noexcept {
    begun += other.begun;
    ended += other.ended;
    bytes += other.bytes;
    for (std::size_t i = 0; i < kErrorKinds; ++i) errors[i] += other.errors[i];
    latency += other.latency;
    return *this;
  }

  std::uint64_t failed() const noexcept {
    std::uint64_t total = 0;
    for (const std::uint64_t count : errors) total += count;
    return total;
  }
};

/// What IoCounters have counted; those of several threads can be added up.
struct IoFigures {
  std::array<IoKindFigures, kIoKinds> kinds;

  const IoKindFigures& of(IoKind kind) const noexcept {
    return kinds[static_cast<std::size_t>(kind)];
  }

  std::uint64_t in_flight() const noexcept {
    std::uint64_t total = 0;
    // What ends while this is read may be seen to end and not to begin.
    for (const IoKindFigures& kind : kinds) {
      if (kind.begun > kind.ended) total += kind.begun - kind.ended;
    }
    return total;
  }

  IoFigures& operator+=(const IoFigures& other) noexcept {
    for (std::size_t i = 0; i < kIoKinds; ++i) kinds[i] += other.kinds[i];
    return *this;
  }
};

/// Counts the requests that one thread works on: it alone changes them, without a lock or a locked
/// instruction, and nothing else lies in their cache lines. Any thread reads.
class alignas(64) IoCounters {
 public:
  void begin(IoKind kind) noexcept { LatencyHistogram::bump(of(kind).begun, 1); }

  /// A request that was begun has ended.
  /// @param bytes that it was about. @param error 0 or an errno value. @param time that it took.
  void end(IoKind kind, std::uint64_t bytes, int error, std::chrono::nanoseconds time) noexcept {
    Kind& counters = of(kind);
    LatencyHistogram::bump(counters.ended, 1);
    counters.latency.add(time);
    if (error == 0) return LatencyHistogram::bump(counters.bytes, bytes);
    LatencyHistogram::bump(counters.errors[static_cast<std::size_t>(error_kind(error))], 1);
  }

  IoFigures figures() const noexcept {
    IoFigures figures;
    for (std::size_t i = 0; i < kIoKinds; ++i) figures.kinds[i] = kinds_[i].figures();
    return figures;
  }

 private:
  struct alignas(64) Kind {
    std::atomic<std::uint64_t> begun = 0;
    std::atomic<std::uint64_t> ended = 0;
    std::atomic<std::uint64_t> bytes = 0;
    LatencyHistogram latency;
    std::array<std::atomic<std::uint64_t>, kErrorKinds> errors{};

    IoKindFigures figures() const noexcept {
      IoKindFigures figures;
      // In this order: nothing is seen to end that was not seen to begin, or hardly anything.
      figures.ended = ended.load(std::memory_order_relaxed);
      figures.begun = begun.load(std::memory_order_relaxed);
      figures.bytes = bytes.load(std::memory_order_relaxed);
      for (std::size_t i = 0; i < kErrorKinds; ++i) {
        figures.errors[i] = errors[i].load(std::memory_order_relaxed);
      }
      figures.latency = latency.figures();
      return figures;
    }
  };

  Kind& of(IoKind kind) noexcept { return kinds_[static_cast<std::size_t>(kind)]; }

  std::array<Kind, kIoKinds> kinds_;
};

}  // namespace rdmablk::metrics
