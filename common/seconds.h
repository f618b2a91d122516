#pragma once

#include <chrono>

namespace rdmablk {

/// A duration as a number of seconds, with its fraction.
template <typename Rep, typename Period>
constexpr double in_seconds(std::chrono::duration<Rep, Period> time) noexcept {
  return std::chrono::duration<double>(time).count();
}

}  // namespace rdmablk
