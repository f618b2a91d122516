#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "common/verbs/memory_region.h"
#include "initiator/memory_keys.h"

namespace rdmablk::initiator {

class DeviceTable;

/// Memory that is registered with each device that its session uses, and with those that it comes
/// to use. Any thread makes and destroys it; not while a request is in it.
class Registration {
 public:
  enum class Use : std::uint8_t {
    requests,  ///< READs go into it, too
    source,    ///< WRITEs come from it alone
  };

  /// @param memory not owned; stays mapped as long as the registration lives. Throws
  /// verbs::MemlockError or SystemError.
  Registration(std::shared_ptr<DeviceTable> devices, std::span<std::byte> memory, Use use);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  std::span<std::byte> memory() const noexcept { return memory_; }

  /// For requests.
  const MemoryKeys& keys() const noexcept { return keys_; }

 private:
  friend class DeviceTable;

  void add(unsigned device, const verbs::ProtectionDomain& pd);
  void remove(unsigned device) noexcept;

  std::shared_ptr<DeviceTable> devices_;
  std::span<std::byte> memory_;
  Use use_;
  std::array<std::optional<verbs::MemoryRegion>, kMaxDevices> regions_;
  MemoryKeys keys_;
};

}  // namespace rdmablk::initiator
