#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/cm/connection.h"
#include "target/attachment.h"
#include "target/footprint.h"
#include "target/target_device.h"

namespace rdmablk::target {

class IoQueue;

/// The device that an I/O queue is connected over, and what its attachment is entitled to there.
struct QueueGround {
  std::shared_ptr<const TargetDevice> device;  ///< null: it outlives the queue
  Grant grant;
};

/// Is told what becomes of an I/O queue. On the control thread.
class IoQueueOwner {
 public:
  virtual ~IoQueueOwner() = default;

  /// The connection is gone, or does not work any more. May begin to close the queue.
  /// @param reason for people.
  virtual void on_queue_over(IoQueue& queue, const std::string& reason) = 0;

  /// Its device put it in error, which is worth a line. on_queue_over() follows.
  virtual void on_queue_in_error(const std::string& line) = 0;

  /// The peer broke the rules. May begin to close the queue.
  virtual void on_queue_violation(IoQueue& queue, const std::string& reason) = 0;
};

/// The target's end of an I/O queue of an attachment. Used by the control thread.
class IoQueue : public cm::EventHandler {
 public:
  ~IoQueue() override = default;
  IoQueue(const IoQueue&) = delete;
  IoQueue& operator=(const IoQueue&) = delete;

  std::uint64_t attachment() const noexcept { return attachment_; }
  std::uint16_t number() const noexcept { return number_; }

  /// The device that it is connected over; null when nobody said.
  ibv_context* device() const noexcept {
    return ground_.device == nullptr ? nullptr : ground_.device->context();
  }

  virtual std::string peer() const = 0;

  /// What it takes of its device.
  virtual Footprint footprint() const noexcept = 0;

  /// Answers the peer's request to connect. Throws SystemError.
  virtual void accept() = 0;

  /// Begins to end the queue: its owner hears nothing more of it. Once.
  /// @param closed called, maybe from within, when nothing that came over the queue can touch the
  /// export any more; the queue is to be destroyed only then.
  void close(std::function<void()> closed);

  /// Its owner hears nothing more of it, although it goes on; close() follows.
  void abandon_owner();

  /// Whether both ends know that it is connected.
  bool is_established() const noexcept { return established_; }

  void on_event(cm::Connection& connection, const cm::Event& event) final;

 protected:
  IoQueue(const Attachment& attachment, std::uint16_t number, QueueGround ground,
          IoQueueOwner& owner)
      : ground_(std::move(ground)),
        attachment_(attachment.id()),
        number_(number),
        hold_(attachment.hold_export()),
        lease_(attachment.lease()),
        edition_(attachment.edition()),
        owner_(&owner) {}

  /// See close().
  virtual void begin_close() = 0;
  void closed() { closed_(); }

  const Grant& grant() const noexcept { return ground_.grant; }

  void tell_over(const std::string& reason);
  std::string describe_loss(const cm::Connection& connection, const cm::Event& event);
  void tell_violation(const std::string& reason);

 private:
  QueueGround ground_;  // stays as long as what was made with it
  std::uint64_t attachment_;
  std::uint16_t number_;
  ExportUse::Hold hold_;                       // and neither is the export
  std::shared_ptr<const LeaseHold> lease_;     // is not free before the queue is gone
  std::shared_ptr<const EditionUse> edition_;  // what it reaches stays as long
  IoQueueOwner* owner_;                        // null: nobody is told any more
  std::function<void()> closed_;
  bool established_ = false;
};

}  // namespace rdmablk::target
