#include "initiator/file_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/verbs/context.h"
#include "initiator/file_queue.h"

namespace rdmablk::initiator {
namespace {

/// The deepest queue that Image::make_queue() makes.
constexpr std::uint32_t kMaxDepth = 4096;

}  // namespace

FileImage::FileImage(RdmaSession& session, std::string uri, protocol::AttachReply reply)
    : attachment_(session, std::move(uri), std::move(reply)), info_(attachment_.info()) {
  if (attachment_.reply().depth > kMaxDepth) {
    throw Error(fmt::format("cannot attach {}: the target grants queues of {} requests; {} is sane",
                            attachment_.uri(), attachment_.reply().depth, kMaxDepth));
  }
}

std::unique_ptr<Queue> FileImage::make_queue(unsigned depth) {
  RdmaSession& session = attachment_.session();
  const auto private_data = attachment_.next_queue();
  const auto deadline = session.deadline();
  FileQueueOptions options;
  options.name = attachment_.uri();
  options.depth = depth;
  options.granted = attachment_.reply().depth;
  options.max_piece = std::min(options.max_piece, verbs::max_message_size(session.device()));
  options.flush_is_free = info_.flush_is_free;
  options.can_discard = info_.can_discard;
  return std::make_unique<FileQueue>(session.loop(), session.open_link(), session.buffers_domain(),
                                     std::move(options), private_data, deadline);
}

std::unique_ptr<RequestBuffers> FileImage::make_buffers(std::size_t bytes) {
  return std::make_unique<RequestBuffers>(bytes, attachment_.session().buffers_domain());
}

}  // namespace rdmablk::initiator
