#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace rdmablk::initiator {

/// The most RDMA devices that one session uses at once.
inline constexpr unsigned kMaxDevices = 8;

/// The lkeys of one piece of memory: one for each device of its session, by the device's number. A
/// key is there before the first queue on that device is.
class MemoryKeys {
 public:
  std::uint32_t on(unsigned device) const noexcept {
    return keys_[device].load(std::memory_order_relaxed);
  }
  void set(unsigned device, std::uint32_t key) noexcept {
    keys_[device].store(key, std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint32_t>, kMaxDevices> keys_{};
};

}  // namespace rdmablk::initiator
