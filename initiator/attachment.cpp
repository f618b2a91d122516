#include "initiator/attachment.h"

#include <fmt/format.h>

namespace rdmablk::initiator {

Attachment::Attachment(RdmaSession& session, std::string uri, protocol::AttachReply reply)
    : session_(session), uri_(std::move(uri)), reply_(std::move(reply)) {}

Attachment::~Attachment() {
  session_.detach(reply_.attachment);
}

ImageInfo Attachment::info() const {
  const protocol::ExportInfo& exported = reply_.info;
  ImageInfo info;
  info.name = exported.name;
  info.size = exported.size;
  info.read_only = is_read_only();
  info.block_size = exported.block_size;
  info.flush_is_free = is_read_only() || exported.kind == protocol::ExportKind::memory;
  info.can_discard = exported.can_discard;
  info.is_direct = exported.is_direct;
  info.has_holes = exported.kind == protocol::ExportKind::file;
  return info;
}

std::array<std::byte, protocol::QueueRequest::kSize> Attachment::next_queue() {
  if (queues_made_ == reply_.queues) {
    throw Error(fmt::format("cannot make one more I/O queue: the target grants {} of {}",
                            reply_.queues, uri_));
  }
  protocol::QueueRequest request;
  request.queue = queues_made_++;
  request.epoch = reply_.epoch;
  request.attachment = reply_.attachment;
  request.nonce = reply_.nonce;
  request.proof = session_.prove(request, reply_.token);
  return request.encode();
}

}  // namespace rdmablk::initiator
