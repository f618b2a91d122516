#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace rdmablk::target {

/// What the initiator of a session is to be told unasked: one event at a time, each when the one
/// before is acknowledged.
class SessionEvents {
 public:
  struct Event {
    std::uint64_t tag = 0;
    std::uint64_t attachment = 0;  ///< whose export was resized; zero: the target is about to end
  };

  /// Something is to be told of an attachment; what is not told yet is told once. Zero: of the end.
  void add(std::uint64_t attachment);

  /// The event that is to be sent now; nothing when one is unacknowledged, or there is none.
  std::optional<Event> next();

  /// It need not be sent after all.
  void skip() noexcept { unacknowledged_.reset(); }

  /// @return the event that is acknowledged; nothing when it is none that was sent.
  std::optional<Event> acknowledge(std::uint64_t tag);

 private:
  std::deque<std::uint64_t> waiting_;  ///< attachments
  std::optional<Event> unacknowledged_;
  std::uint64_t last_tag_ = 0;
};

}  // namespace rdmablk::target
