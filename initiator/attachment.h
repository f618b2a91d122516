#pragma once

#include <array>
#include <memory>
#include <string>

#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "initiator/image.h"
#include "initiator/rdma_session.h"

namespace rdmablk::initiator {

/// What every kind of attached export has: the target's answer, and the right to so many I/O
/// queues. Destroying it detaches.
class Attachment {
 public:
  /// @param session outlives it. @param uri of the export, for messages.
  Attachment(RdmaSession& session, std::string uri, protocol::AttachReply reply);
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  RdmaSession& session() const noexcept { return session_; }
  const std::string& uri() const noexcept { return uri_; }
  const protocol::AttachReply& reply() const noexcept { return reply_; }
  bool is_read_only() const noexcept { return reply_.access == protocol::Access::read_only; }

  /// What an image of it is like.
  ImageInfo info() const;

  /// The private data that the next I/O queue connects with. Throws Error when the target granted
  /// no more.
  std::array<std::byte, protocol::QueueRequest::kSize> next_queue();

 private:
  RdmaSession& session_;
  std::string uri_;
  protocol::AttachReply reply_;
  std::uint16_t queues_made_ = 0;
};

}  // namespace rdmablk::initiator
