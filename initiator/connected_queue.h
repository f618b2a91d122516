#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "initiator/queue.h"
#include "initiator/queue_resize.h"
#include "initiator/way.h"

namespace rdmablk::initiator {

/// The error of a request that a lost connection has kept from being done, or whose end it has kept
/// from being known: it is to be posted anew on another. Users of a Queue never see it.
inline constexpr int kUndone = ECONNRESET;

/// A queue that lives as long as one connection. When that is lost, or cannot be used any more, the
/// queue goes down: it destroys its queue pair, so that the device touches no buffer any more, and
/// only then returns all its requests from poll(), with kUndone unless the target had answered.
class ConnectedQueue : public Queue {
 public:
  ConnectedQueue() = default;

  /// @param way that its connection takes.
  explicit ConnectedQueue(WayUse way) noexcept : way_(std::move(way)) {}

  /// What it uses on its way to the target.
  const WayUse& way() const noexcept { return way_; }
  const SessionDevice& device() const noexcept { return *way_.device; }

  /// Nothing is under way on it, nor waits in it: to be given up now, it leaves nothing undone.
  virtual bool is_idle() const noexcept = 0;

  /// Whether it has gone down, since the call of poll() or kick() that noticed it. What poll()
  /// returned in that call may have been done on a target that is not there any more.
  bool is_down() const noexcept { return down_; }

  /// Takes up another size of the image, while requests go on: what reaches past it ends with an
  /// error, unless it is posted already. One at a time. By the queue's thread, as all calls.
  virtual void resize(std::unique_ptr<QueueResize> to) noexcept { resize_ = std::move(to); }

  /// What resize() was given, once nothing uses the old size any more: neither what is under way
  /// nor what will be posted. Null: that is not so yet, or there was no call. Looked at after
  /// poll().
  virtual std::unique_ptr<QueueResize> take_resized() noexcept { return std::move(resize_); }

  /// Why, for people.
  const std::string& failure() const noexcept { return failure_; }

  /// Whether the target ended it, which says nothing against the path.
  bool was_closed_by_peer() const noexcept { return closed_by_peer_; }

 protected:
  /// What it is taking up; null: nothing.
  QueueResize* resizing() const noexcept { return resize_.get(); }

  void set_down(std::string why, bool closed_by_peer = false) noexcept {
    down_ = true;
    failure_ = std::move(why);
    closed_by_peer_ = closed_by_peer;
  }

 private:
  WayUse way_;  // outlives all that is registered with its device
  bool down_ = false;
  bool closed_by_peer_ = false;
  std::string failure_;
  std::unique_ptr<QueueResize> resize_;
};

}  // namespace rdmablk::initiator
