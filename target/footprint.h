#pragma once

#include <cstdint>

namespace rdmablk::target {

/// What something takes of an RDMA device.
struct Footprint {
  std::uint64_t queue_pairs = 0;
  std::uint64_t memory_regions = 0;
  std::uint64_t protection_domains = 0;
  std::uint64_t bytes = 0;  ///< registered; what is registered twice counts twice

  Footprint& operator+=(const Footprint& other) noexcept {
    queue_pairs += other.queue_pairs;
    memory_regions += other.memory_regions;
    protection_domains += other.protection_domains;
    bytes += other.bytes;
    return *this;
  }
};

}  // namespace rdmablk::target
