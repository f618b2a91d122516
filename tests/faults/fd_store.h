#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::faults {

/// What a service manager keeps of descriptors, and the messages that say so (sd_notify(3)).
class FdStore {
 public:
  /// @param most descriptors that are kept; more are closed without a word.
  explicit FdStore(std::size_t most) noexcept : most_(most) {}

  /// Acts on a message. @param descriptors that came with it.
  /// @return whether it says that the service is ready.
  bool take(std::string_view message, std::vector<UniqueFd> descriptors);

  std::size_t size() const noexcept { return entries_.size(); }

  /// In a process that is about to become the service: makes the descriptors its 3, 4, ... and sets
  /// the environment that says so (sd_listen_fds(3)).
  void pass_on() const;

 private:
  struct Entry {
    std::string name;
    UniqueFd fd;
  };

  std::size_t most_;
  std::vector<Entry> entries_;
};

}  // namespace rdmablk::faults
