#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"

namespace rdmablk::testing {

/// A place in the target's memory, and the key that is tried on it.
struct Aim {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::size_t size = 64;
};

/// How many attempts were made, and how many of them the target's device let through.
struct Score {
  unsigned attempts = 0;
  unsigned successes = 0;
};

/// An initiator with a valid session and attachment that tries what it may not. Every attempt takes
/// an I/O queue of its own, as one that fails takes the queue with it.
class Attacker {
 public:
  /// Throws Error when the session or the attachment is refused.
  Attacker(EventWaiter& waiter, const SocketAddress& target, std::string name,
           protocol::Access access, Score& score);

  const protocol::AttachReply& attachment() const noexcept { return attachment_; }
  const std::vector<protocol::ChunkEntry>& chunks() const noexcept { return chunks_; }
  RawInitiator& initiator() noexcept { return initiator_; }

  void try_read(const Aim& aim);
  void try_write(const Aim& aim);

  /// Both. @param aim of somebody else.
  void try_both(const Aim& aim) {
    try_read(aim);
    try_write(aim);
  }

  /// Connects queues, to keep them whatever becomes of its right to them.
  void hold_queues();

  /// READs and WRITEs on those, before it hears what the target says of their end.
  /// @param living has a right to its queues. A device answers what is posted there later: so it
  /// has answered the attack by then, or never will.
  void try_held(const Aim& aim, Attacker& living);

  /// A queue that works, as any client may have one.
  std::unique_ptr<RawQueue> connect();

 private:
  void attach();
  std::unique_ptr<RawQueue> connect_to(EventWaiter& waiter);
  void count(const std::function<ibv_wc_status()>& attack);

  EventWaiter& waiter_;
  SocketAddress target_;
  std::string name_;
  protocol::Access access_;
  Score& score_;
  RawInitiator initiator_;
  protocol::AttachReply attachment_;
  std::vector<protocol::ChunkEntry> chunks_;
  std::uint16_t queues_used_ = 0;
  EventWaiter held_waiter_;
  std::vector<std::unique_ptr<RawQueue>> held_;
};

}  // namespace rdmablk::testing
