#pragma once

#include <cstdint>
#include <memory>

#include "common/cm/connection.h"
#include "common/verbs/completion_queue.h"
#include "target/attachment.h"
#include "target/counters.h"

namespace rdmablk::target {

class IoQueue;

/// Is told when the connection of an I/O queue is gone.
class IoQueueOwner {
 public:
  virtual ~IoQueueOwner() = default;

  /// May destroy the queue. @param reason for people.
  virtual void on_queue_over(IoQueue& queue, const char* reason) = 0;
};

/// The target's end of an I/O queue of an export that is served one-sided: its device answers READ
/// and WRITE, and nothing is ever posted here. It lives in the protection domain of its attachment,
/// which is what keeps a read-only one from writing: taking the right away from the queue pair as
/// well (IBV_QP_ACCESS_FLAGS) has no effect on soft-iWARP once rdma_cm has made it. Once it is
/// destroyed, nothing that came over it can touch the export any more.
class IoQueue final : public cm::EventHandler {
 public:
  /// Takes the peer's request to connect, without answering it yet.
  /// @param connection a request of the peer. Throws SystemError, and leaves it to the caller then.
  IoQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
          std::uint16_t number, Counters& counters, IoQueueOwner& owner);
  ~IoQueue() override;
  IoQueue(const IoQueue&) = delete;
  IoQueue& operator=(const IoQueue&) = delete;

  /// Answers the request. Throws SystemError.
  void accept();

  std::uint64_t attachment() const noexcept { return attachment_; }
  std::uint16_t number() const noexcept { return number_; }
  std::string peer() const { return connection_->peer(); }

  void on_event(cm::Connection& connection, const cm::Event& event) override;

 private:
  void count_completions() noexcept;

  std::uint64_t attachment_;
  std::uint16_t number_;
  Counters& counters_;
  IoQueueOwner& owner_;
  verbs::CompletionQueue cq_;  // outlives the queue pair
  std::unique_ptr<cm::Connection> connection_;
};

}  // namespace rdmablk::target
