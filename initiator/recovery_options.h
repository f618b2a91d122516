#pragma once

#include <chrono>
#include <optional>

namespace rdmablk::initiator {

/// What to do while the target cannot be reached. All times count from the loss.
struct RecoveryOptions {
  /// The longest pause between two attempts to connect; the first ones come sooner.
  std::chrono::milliseconds reconnect_delay{2000};

  /// From when on requests end with EIO, while the attempts go on; nothing: they wait.
  std::optional<std::chrono::milliseconds> fail_fast;

  /// From when on there are no more attempts, and requests end with EIO for good; nothing: never.
  std::optional<std::chrono::milliseconds> give_up{std::chrono::seconds{600}};
};

}  // namespace rdmablk::initiator
