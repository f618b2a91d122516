#pragma once

#include <infiniband/verbs.h>

namespace softverbs {

/// One software device. Never destroyed, so that pointers to it stay valid after
/// ibv_free_device_list. The zeroes behind it are for providers' helpers that look at what
/// follows an `ibv_device` to see whether it is theirs.
struct Device {
  ibv_device base{};
  char nothing[512] = {};
  int index = 0;

  static Device* from(ibv_device* device) { return reinterpret_cast<Device*>(device); }
  [[nodiscard]] __be64 guid() const;
};

}  // namespace softverbs
