#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"

namespace rdmablk::testing {

/// The event loop of a test: one connection manager, and the descriptors of what it connected.
class EventWaiter {
 public:
  EventWaiter();

  cm::ConnectionManager& manager() noexcept { return *manager_; }

  /// Calls `ready` whenever a descriptor is readable and something is waited for.
  void add(int fd, std::function<void()> ready);
  void remove(int fd);

  /// Handles events until a condition holds. Throws when it does not after a time that is far
  /// longer than anything here takes.
  /// @param what is waited for, for people.
  void until(const std::string& what, const std::function<bool()>& condition);

 private:
  asio::io_context io_{1};
  std::unique_ptr<cm::ConnectionManager> manager_;
  std::map<int, std::function<void()>> ready_;
  std::map<int, DescriptorWatch> watches_;
  std::vector<int> due_;  ///< are readable
};

}  // namespace rdmablk::testing
