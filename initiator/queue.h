#pragma once

#include <cstddef>
#include <span>

#include "initiator/request.h"

namespace rdmablk::initiator {

/// A way to an image for one thread: requests go in, completions come out, in any order. Nothing
/// here blocks, allocates or locks. The thread that uses it may differ from the one that made it;
/// all calls come from one thread at a time.
class Queue {
 public:
  Queue() = default;
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  /// Takes a request. Always succeeds: it waits here when the device's queue is full, or while the
  /// connection is down; it comes back from poll() with EIO when that is to wait no longer.
  virtual void submit(Request& request) noexcept = 0;

  /// Hands what was submitted to the device, in one go. Call it once after a batch of submit().
  virtual void kick() noexcept = 0;

  /// Takes requests that have ended, and posts what waited for room.
  /// @return how many were written to `done`; 0 when there are none now.
  virtual std::size_t poll(std::span<Request*> done) noexcept = 0;

  /// Takes back a request that waits for a lost connection to come back: it will not be posted, nor
  /// returned by poll(). @return false when it is not waiting; it comes back as any other.
  virtual bool cancel(Request& /*request*/) noexcept { return false; }

  /// Whether nothing is under way that might end: before fd() tells of anything, something would
  /// have to be submitted, or the connection be lost, which it tells without arm(), too.
  virtual bool is_quiet() const noexcept { return false; }

  /// Readable when, after arm(), there is something to poll.
  virtual int fd() const noexcept = 0;

  /// Makes the descriptor tell of the next completion, and takes what it told of before. Poll once
  /// more after it, then sleep.
  virtual void arm() noexcept = 0;

  /// Takes what the descriptor told of, and arms nothing if that can be: for a queue that is quiet.
  virtual void drain() noexcept { arm(); }
};

}  // namespace rdmablk::initiator
