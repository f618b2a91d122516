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

FileImage::FileImage(std::unique_ptr<Attachment> attachment)
    : AttachedImage(std::move(attachment)) {
  granted_depth();
}

unsigned FileImage::granted_depth() const {
  const std::uint32_t depth = attached().current().depth;
  if (depth > kMaxDepth) {
    throw Error(fmt::format("cannot attach {}: the target grants queues of {} requests; {} is sane",
                            attached().uri(), depth, kMaxDepth));
  }
  return depth;
}

std::unique_ptr<ConnectedQueue> FileImage::connect_queue(const QueuePlace& place, Way way,
                                                         std::span<const std::byte> private_data) {
  RdmaSession& session = attached().session();
  const auto deadline = session.deadline();
  FileQueueOptions options;
  options.name = attached().uri();
  options.size = attached().current().info.size;
  options.depth = place.depth;
  options.granted = granted_depth();
  options.max_piece =
      std::min(options.max_piece, verbs::max_message_size(way.use.device->context()));
  options.flush_is_free = info().flush_is_free;
  options.can_discard = info().can_discard;
  options.ledger = &ledger_;
  return std::make_unique<FileQueue>(session.loop(), std::move(way), std::move(options),
                                     private_data, deadline);
}

}  // namespace rdmablk::initiator
