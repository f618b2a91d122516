#include "target/attachment.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>

#include "common/auth/queue_proof.h"
#include "common/random.h"
#include "common/units.h"
#include "target/export_identity.h"
#include "target/fencing.h"

namespace rdmablk::target {
namespace {

template <typename Bytes>
bool equal_in_constant_time(const Bytes& a, const Bytes& b) noexcept {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

protocol::QueueRefusal refuse_unproved() {
  return {protocol::Status::no_attachment,
          "there is no such attachment, or the proof is not that of this queue"};
}

Attachment::Attachment(std::uint64_t id, const Offer& offer, const protocol::Attach& request,
                       const Limits& limits, std::shared_ptr<StoreUse> use,
                       std::shared_ptr<LeaseHold> lease, const auth::Key* session_key)
    : offer_(&offer),
      hold_(offer.use == nullptr
                ? ExportUse::Hold()
                : offer.use->attach(request.access == protocol::Access::read_write)),
      edition_(offer.editions == nullptr ? nullptr : std::make_shared<EditionUse>(*offer.editions)),
      use_(std::move(use)),
      lease_(std::move(lease)),
      session_key_(session_key) {
  reply_.info = offer.info;
  reply_.attachment = id;
  if (session_key_ == nullptr) reply_.token = random_bytes<protocol::Token>();
  reply_.nonce = random_bytes<protocol::Nonce>();
  reply_.access = request.access;
  reply_.queues = std::clamp<std::uint16_t>(request.queues, 1, limits.queues);
  reply_.depth = std::clamp<std::uint32_t>(request.depth, 1, limits.depth);
  reply_.max_io = std::clamp<std::uint32_t>(request.max_io, kSectorSize, limits.max_io);
  reply_.epoch = offer.epoch;
  reply_.generation = offer.identity->generation();
  if (offer.lease != nullptr && request.access == protocol::Access::read_write) {
    reply_.lease = lease_ ? lease_->number() : request.lease;  // without fences: it is believed
  }
  reply_.table = grant().table;
  reply_.origin = offer.origin;
  if (offer.info.kind == protocol::ExportKind::file) {
    reply_.depth = use_->layout().count;
    reply_.max_io = use_->layout().max_io;
  }
}

std::optional<protocol::EventNotice> Attachment::announce() {
  if (!edition_ || edition_->is_current()) return std::nullopt;
  edition_->announce();
  protocol::EventNotice notice;
  notice.kind = protocol::EventKind::resized;
  notice.attachment = id();
  notice.size = offer_->info.size;
  notice.table = grant().table;
  return notice;
}

std::optional<protocol::ChunkTable> Attachment::table(std::uint64_t number,
                                                      ibv_context* device) const {
  const Edition* const edition = edition_ ? edition_->find(number) : nullptr;
  if (edition == nullptr) return std::nullopt;
  const auto found = edition->tables.find(device);
  if (found == edition->tables.end()) return std::nullopt;
  return found->second.of(reply_.access).where();
}

Attachment::~Attachment() {
  if (lease_) lease_->leave();
}

ExportUse::Hold Attachment::hold_export() const noexcept {
  return offer_->use == nullptr ? ExportUse::Hold() : offer_->use->hold();
}

bool QueueCredential::fits(const protocol::QueueRequest& request) const {
  const auto proof = session_key != nullptr ? auth::queue_proof(*session_key, request) : token;
  // Both are always compared: how long it takes tells nothing.
  const bool same_nonce = equal_in_constant_time(request.nonce, nonce);
  const bool same_proof = equal_in_constant_time(request.proof, proof);
  return same_nonce && same_proof;
}

std::optional<protocol::QueueRefusal> Attachment::admit(const protocol::QueueRequest& request) {
  using protocol::QueueRefusal;
  using protocol::Status;
  if (!credential().fits(request)) return refuse_unproved();
  if (request.queue >= reply_.queues) {
    return QueueRefusal{Status::limit, fmt::format("queue {} was not granted: there are {}",
                                                   request.queue, reply_.queues)};
  }
  const std::uint32_t last = epochs_[request.queue];
  if (request.epoch < reply_.epoch || request.epoch <= last) {
    return QueueRefusal{
        Status::stale, fmt::format("epoch {} is over: the next is {} or a later one", request.epoch,
                                   last == 0 ? reply_.epoch : last + 1)};
  }
  epochs_[request.queue] = request.epoch;
  return std::nullopt;
}

}  // namespace rdmablk::target
