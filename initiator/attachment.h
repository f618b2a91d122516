#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "initiator/image.h"
#include "initiator/rdma_session.h"
#include "initiator/session.h"

namespace rdmablk::initiator {

/// What every kind of attached export has: the target's answer, and the right to so many I/O
/// queues. It outlives the session with the target in which it was made, and is made again in the
/// next. Destroying it detaches.
class Attachment {
 public:
  /// Attaches an export. Throws Error.
  /// @param session outlives it.
  Attachment(RdmaSession& session, std::string name, const AttachOptions& options);
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  RdmaSession& session() const noexcept { return session_; }

  /// The export's URI, for messages.
  const std::string& uri() const noexcept { return uri_; }

  /// The target's first answer, which stays.
  const protocol::AttachReply& reply() const noexcept { return reply_; }

  /// The target's last answer: where things are now. For the thread that drives the control loop.
  const protocol::AttachReply& current() const noexcept { return current_; }

  bool is_read_only() const noexcept { return reply_.access == protocol::Access::read_only; }

  /// What an image of it is like.
  ImageInfo info() const;

  /// How many requests an I/O queue can have under way over the session's device; those beyond
  /// wait.
  unsigned depth_limit() const;

  /// Takes the right to one more I/O queue. @return its number. Throws Error when the target
  /// granted no more.
  std::uint16_t add_queue();

  /// The private data that the next connection of an I/O queue connects with.
  std::array<std::byte, protocol::QueueRequest::kSize> next_queue(std::uint16_t queue);

  /// Whether the target knows of it in the session that there is.
  bool is_attached() const noexcept { return is_attached_; }

  /// The session is over, and the attachment with it.
  void forget() noexcept { is_attached_ = false; }

  /// The export has another size since it was attached.
  void resize(std::uint64_t size, const protocol::ChunkTable& table) noexcept {
    current_.info.size = size;
    current_.table = table;
  }

  /// Attaches the same export in a new session, with the lease that it had.
  /// @param accepts_any_generation what was attached before need not be there any more. Throws
  /// RefusedError, or Error.
  void attach_again(bool accepts_any_generation);

 private:
  protocol::AttachReply attach(const protocol::Attach& request);
  void accept(protocol::AttachReply reply);

  RdmaSession& session_;
  std::string name_;
  std::string uri_;
  AttachOptions options_;
  protocol::AttachReply reply_;
  protocol::AttachReply current_;
  bool is_attached_ = false;
  std::vector<std::uint32_t> epochs_;  ///< of each queue's next connection
};

}  // namespace rdmablk::initiator
