#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "common/protocol/messages.h"
#include "common/protocol/use_report.h"
#include "initiator/image.h"
#include "initiator/registration.h"

namespace rdmablk::initiator {

/// An attached export of a target. Destroying it detaches.
class RemoteImage : public Image {
 public:
  /// What the target said of the attachment: size, generation, what was granted.
  virtual const protocol::AttachReply& attachment() const noexcept = 0;

  /// Registers memory of the caller's with each device that leads to the image, for requests: its
  /// keys are theirs.
  /// @param memory stays mapped as long as the registration, which the image outlives. Throws
  /// verbs::MemlockError or SystemError.
  virtual std::unique_ptr<Registration> register_memory(std::span<std::byte> memory) const = 0;

  /// Has `told` called, on the thread that watches the connections, when its queues have something
  /// to take up that waits for a call of poll() of each: another size, or the end of their
  /// connections. For who has queues that are not polled for long. Before that thread begins.
  virtual void on_news_for_queues(std::function<void()> told) = 0;

  /// Tells what has been done with the image so far.
  using UseSource = std::function<protocol::Use()>;

  /// Has the target told, now and then, what the image's user counts: it cannot see that itself. An
  /// older target is told nothing.
  /// @param source is called on the thread that drives the control loop, until the image is gone.
  virtual void report(UseSource source) = 0;
};

}  // namespace rdmablk::initiator
