#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "initiator/attachment.h"
#include "initiator/hand_over.h"
#include "initiator/remote_image.h"
#include "initiator/way.h"

namespace rdmablk::initiator {

/// The control thread's end of an I/O queue.
struct QueuePlace {
  QueuePlace(std::uint16_t queue_number, unsigned queue_depth, WakeEvent& control)
      : number(queue_number), depth(queue_depth), hand_over(control) {}

  /// Its thread has given up its connection, or is not given the one that was meant for it.
  void disconnect() noexcept {
    is_connected = false;
    is_leaving = false;
    if (way.count) way.count->set_connected(false);
    way = {};
    resize = nullptr;
    hand_over.call_back_resize();
  }

  /// Its thread has one, or is given one, that takes this way.
  void connect(std::size_t over, const WayUse& use) noexcept {
    path = over;
    way = use;
    way.count->set_connected(true);
  }

  std::uint16_t number;
  unsigned depth;
  HandOver hand_over;
  std::size_t path = 0;      ///< of its connection
  WayUse way;                ///< that its connection takes; empty without one
  bool is_leaving = false;   ///< its thread was asked to give up its connection when it is idle
  bool is_connected = true;  ///< its thread has a connection, live or dead, or is given one
  const QueueResize* resize = nullptr;  ///< that its thread has not given back yet
  unsigned refusals = 0;                ///< in a row, that may take another session to end
};

/// An image whose queues outlive their connections. What the kinds of exports differ in is how one
/// connection is made. Used by the thread that drives the control loop.
class AttachedImage : public RemoteImage {
 public:
  explicit AttachedImage(std::unique_ptr<Attachment> attachment);
  ~AttachedImage() override;
  AttachedImage(const AttachedImage&) = delete;
  AttachedImage& operator=(const AttachedImage&) = delete;

  const ImageInfo& info() const noexcept override { return info_; }
  std::uint64_t size() const noexcept override { return size_; }
  void on_resized(std::function<void(std::uint64_t)> told) override { told_ = std::move(told); }
  const protocol::AttachReply& attachment() const noexcept override { return attachment_->reply(); }
  std::unique_ptr<Queue> make_queue(unsigned depth) override;
  std::unique_ptr<RequestBuffers> make_buffers(std::size_t bytes) override;
  std::unique_ptr<Registration> register_memory(std::span<std::byte> memory) const override;

  void on_news_for_queues(std::function<void()> told) override { has_news_ = std::move(told); }

  void report(UseSource source) override { use_ = std::move(source); }

  /// What has been done through the attachment that there is now; nothing when that is not known,
  /// or there is none.
  std::optional<protocol::AttachmentUse> next_report();

  Attachment& attached() const noexcept { return *attachment_; }

  /// Of the queues that there are.
  std::span<const std::unique_ptr<QueuePlace>> places() const noexcept { return places_; }

  /// Makes a connection for one of them, over the best path that works, driving the control loop.
  /// Throws Error.
  std::unique_ptr<ConnectedQueue> connect(QueuePlace& place);

  /// Has the thread of a queue give up its connection as soon as nothing is under way on it.
  void ask_to_leave(QueuePlace& place) noexcept;

  /// Whether what was written and acknowledged may not be on stable storage yet; in doubt it is
  /// not. Asked when the queues' connections have been ended.
  virtual bool has_unflushed() const noexcept { return false; }

  /// Says what becomes of requests without a connection. Not once it is lost.
  void set_service(Service service) noexcept;

  /// The export has another size, and its chunk table another place: its queues take that up, which
  /// takes a moment. What goes past the new end fails from now on. Throws Error when it makes no
  /// sense.
  void begin_resize(const protocol::EventNotice& event);

  /// Whether no queue uses the old size any more. Calls finish_resize() then.
  bool has_resized() noexcept;
  void finish_resize();

  /// It was attached again, maybe with another size; its queues have no connections.
  void adopt_size();

  /// All connections have been ended.
  void set_fenced() noexcept;

  /// Every request ends with EIO from now on, for good.
  void lose() noexcept;
  bool is_lost() const noexcept { return is_lost_; }

 protected:
  /// Makes a connection to what is attached now: `attached().current()` tells where. Throws Error.
  /// @param place of the queue that the image was asked for.
  virtual std::unique_ptr<ConnectedQueue> connect_queue(
      const QueuePlace& place, Way way, std::span<const std::byte> private_data) = 0;

  /// The size is about to be another one.
  virtual void on_size(std::uint64_t /*size*/) noexcept {}

  /// What a queue needs to take up the size that `attached().current()` tells. Throws Error.
  virtual std::unique_ptr<QueueResize> make_resize(const QueuePlace& place) const;

  /// Whether a queue's path is another than the session's own: what the target says of its memory
  /// in answer to ATTACH holds for its own device.
  bool is_elsewhere(std::size_t path) const noexcept;

 private:
  void set_size(std::uint64_t size);
  void forget(const QueuePlace& place) noexcept;

  std::unique_ptr<Attachment> attachment_;
  ImageInfo info_;
  std::atomic<std::uint64_t> size_;  ///< that it has now, in bytes
  std::function<void(std::uint64_t)> told_;
  std::function<void()> has_news_;
  std::vector<std::unique_ptr<QueuePlace>> places_;
  bool is_lost_ = false;

  UseSource use_;
  std::uint64_t reported_for_ = 0;  ///< the attachment that the last report was about
  protocol::Use reported_;          ///< all that was said, in all attachments
  protocol::Use reported_before_;   ///< the same, when this attachment began
};

}  // namespace rdmablk::initiator
