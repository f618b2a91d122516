#pragma once

#include <functional>
#include <memory>

#include "common/unique_fd.h"
#include "initiator/connected_queue.h"
#include "initiator/hand_over.h"
#include "initiator/request_list.h"

namespace rdmablk::initiator {

/// The queue that an image makes: it outlives connections. Requests go to a queue that lives as
/// long as one connection; when that goes down, what it had not done waits here, together with what
/// is submitted meanwhile, and goes to the next one that the control thread makes.
///
/// Requests that wait have no order among them, as those under way have none; a flush covers what
/// was acknowledged before it was submitted, whenever it is posted.
///
/// Asked to give up a connection that works, it lets requests wait until what is under way has
/// ended: these are all new to the next one.
///
/// A change that a lost connection may have under way ends with an error, or is cancelled, only
/// when it is fenced: else it could still be done after a newer one that went over another queue.
class ReconnectingQueue final : public Queue {
 public:
  struct Options {
    bool read_only = false;  ///< writes end with EROFS
  };

  /// @param hand_over outlives the queue. @param connected the first connection.
  /// @param on_destroyed called first when the queue is destroyed: from then on nobody delivers.
  /// Throws SystemError.
  ReconnectingQueue(HandOver& hand_over, std::unique_ptr<ConnectedQueue> connected, Options options,
                    std::function<void()> on_destroyed);
  ~ReconnectingQueue() override;
  ReconnectingQueue(const ReconnectingQueue&) = delete;
  ReconnectingQueue& operator=(const ReconnectingQueue&) = delete;

  void submit(Request& request) noexcept override;
  void kick() noexcept override {
    if (connected_ != nullptr) connected_->kick();
  }
  std::size_t poll(std::span<Request*> done) noexcept override;
  bool cancel(Request& request) noexcept override {
    return waiting_.remove(request) || (hand_over_.is_fenced() && begun_.remove(request));
  }
  bool is_quiet() const noexcept override {
    return connected_ != nullptr && connected_->is_quiet() && done_.empty();
  }
  int fd() const noexcept override { return wait_set_.get(); }
  void arm() noexcept override;
  void drain() noexcept override {
    hand_over_.drain();
    if (connected_ != nullptr) connected_->drain();
  }

 private:
  void pass_on(Request& request) noexcept;
  void count(std::span<Request* const> ended) noexcept;
  void leave() noexcept;
  void disconnect(std::uint64_t undone) noexcept;
  void take_resize() noexcept;
  void give_back_resize() noexcept;
  std::size_t recover(std::span<Request*> done, std::size_t count) noexcept;
  std::size_t give_up(std::span<Request*> done, std::size_t count) noexcept;
  bool take_next() noexcept;
  std::uint64_t keep(std::span<Request* const> ended, RequestList& settled) noexcept;
  void fail_waiting() noexcept;
  void fail(RequestList& list) noexcept;
  void watch(int fd);

  HandOver& hand_over_;
  Options options_;
  std::function<void()> on_destroyed_;
  UniqueFd wait_set_;  ///< an epoll descriptor
  std::unique_ptr<ConnectedQueue> connected_;
  PathUse* path_ = nullptr;   ///< where it counts; null: nowhere
  bool is_leaving_ = false;   ///< the connection takes no more, and is given up when it is idle
  bool is_resizing_ = false;  ///< the connection takes up another size
  RequestList begun_;         ///< changes that a lost connection had; they wait for the next one
  RequestList waiting_;       ///< for a connection, too
  RequestList done_;          ///< to be returned by poll(), before anything else
};

}  // namespace rdmablk::initiator
