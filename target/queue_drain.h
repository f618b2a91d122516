#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "target/io_queue.h"

namespace rdmablk::target {

/// The numbers of some attachments: of all of a session, or of one.
struct AttachmentRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< inclusive

  bool contains(std::uint64_t attachment) const noexcept {
    return first <= attachment && attachment <= last;
  }
};

/// Where I/O queues go to end: each is kept until what it has begun is through. Used by the control
/// thread, from its event loop.
class QueueDrain {
 public:
  QueueDrain() = default;
  QueueDrain(const QueueDrain&) = delete;
  QueueDrain& operator=(const QueueDrain&) = delete;

  /// Closes a queue, and destroys it when it is through.
  /// @param then called when it is destroyed, maybe from within.
  void add(
      std::unique_ptr<IoQueue> queue, std::function<void()> then = [] {});

  /// Has `then` called when no queue of these attachments is here any more; from within when there
  /// is none. That is when nothing that came over them can touch an export.
  void when_gone(AttachmentRange attachments, std::function<void()> then);

  /// The same for who fences: a program without fences does not wait.
  void when_fenced(AttachmentRange attachments, std::function<void()> then);

  /// Closes those that a program without fences has kept.
  void close_kept();

  bool empty() const noexcept { return queues_.empty(); }
  std::size_t size() const noexcept { return queues_.size(); }
  Footprint footprint() const noexcept;

 private:
  struct Waiting {
    AttachmentRange attachments;
    std::function<void()> then;
  };

  bool has(AttachmentRange attachments) const;
  void on_closed(const IoQueue* queue);

  std::map<const IoQueue*, std::unique_ptr<IoQueue>> queues_;
  std::list<Waiting> waiting_;
  std::vector<std::unique_ptr<IoQueue>> kept_;
};

}  // namespace rdmablk::target
