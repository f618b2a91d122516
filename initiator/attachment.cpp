#include "initiator/attachment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/thread_log.h"
#include "common/uri.h"
#include "common/verbs/context.h"
#include "common/verbs/depth_limit.h"

namespace rdmablk::initiator {

Attachment::Attachment(RdmaSession& session, std::string name, const AttachOptions& options)
    : session_(session),
      name_(std::move(name)),
      uri_(Uri{session.target(), name_}.text()),
      options_(options) {
  if (const unsigned most = depth_limit(); most < options_.depth) {
    thread_log().warn(
        "RDMA device {} has room for {} requests of an I/O queue at a time: of the {} of {} the "
        "others wait",
        session_.device().name(), most, options_.depth, uri_);
  }
  protocol::Attach request;
  request.flags = options_.take_over ? protocol::Attach::kTakeOver : 0;
  reply_ = attach(request);
  accept(reply_);
}

Attachment::~Attachment() {
  session_.detach(is_attached_ ? current_.attachment : 0);
}

/// @param request what differs from one time to the next is filled in.
protocol::AttachReply Attachment::attach(const protocol::Attach& request) {
  protocol::Attach complete = request;
  complete.name = name_;
  complete.access = options_.access;
  complete.queues = static_cast<std::uint16_t>(options_.queues);
  complete.depth = std::min(options_.depth, depth_limit());
  complete.max_io = options_.max_io;
  return session_.ask_to_attach(uri_, complete);
}

void Attachment::accept(protocol::AttachReply reply) {
  current_ = std::move(reply);
  is_attached_ = true;
  std::ranges::fill(epochs_, current_.epoch);
}

void Attachment::attach_again(bool accepts_any_generation) {
  protocol::Attach request;
  if (!accepts_any_generation) request.generation = current_.generation;
  request.lease = reply_.lease;
  accept(attach(request));
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
  info.device = session_.device().name();
  return info;
}

unsigned Attachment::depth_limit() const {
  // A command has two work requests to send, and its reply takes one. Memory's requests take up to
  // two, beside which there are the commands of a resident export.
  return verbs::depth_limit(verbs::query_device(session_.device().context()),
                            {.sends = 3, .receives = 1});
}

std::uint16_t Attachment::add_queue() {
  if (epochs_.size() == current_.queues) {
    throw Error(fmt::format("cannot make one more I/O queue: the target grants {} of {}",
                            current_.queues, uri_));
  }
  epochs_.push_back(current_.epoch);
  return static_cast<std::uint16_t>(epochs_.size() - 1);
}

std::array<std::byte, protocol::QueueRequest::kSize> Attachment::next_queue(std::uint16_t queue) {
  protocol::QueueRequest request;
  request.queue = queue;
  request.epoch = epochs_[queue]++;
  request.attachment = current_.attachment;
  request.nonce = current_.nonce;
  request.proof = session_.prove(request, current_.token);
  return request.encode();
}

}  // namespace rdmablk::initiator
