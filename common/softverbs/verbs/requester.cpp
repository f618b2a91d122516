#include "common/softverbs/verbs/requester.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/memory_region.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"
#include "common/softverbs/verbs/settings.h"

namespace softverbs {
namespace {

constexpr uint32_t kAtomicSize = 8;

bool supported(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_READ:
      return true;
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return !Settings::get().iwarp();
    default:
      return false;
  }
}

}  // namespace

Requester::Requester(QueuePair& queue_pair, const ibv_qp_cap& capabilities)
    : queue_pair_(queue_pair),
      queue_(capabilities.max_send_wr, capabilities.max_send_sge),
      max_inline_(capabilities.max_inline_data),
      inline_data_(max_inline_ * capabilities.max_send_wr) {}

int Requester::post(const ibv_send_wr* request, ibv_send_wr** bad) {
  for (; request != nullptr; request = request->next) {
    if (const int error = faults_ != nullptr && strikes_post() ? ENOMEM : enqueue(*request)) {
      *bad = const_cast<ibv_send_wr*>(request);
      return error;
    }
  }
  return 0;
}

int Requester::enqueue(const ibv_send_wr& wr) {
  if (!supported(wr.opcode)) return EINVAL;
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > queue_.max_sge()) return EINVAL;
  if (queue_.full()) return ENOMEM;
  const uint64_t position = queue_.posted();
  SendRequest& request = queue_.at(position);
  request = {};
  request.wr_id = wr.wr_id;
  request.opcode = wr.opcode;
  request.num_sge = static_cast<uint32_t>(wr.num_sge);
  request.immediate = wr.imm_data;
  request.signaled = queue_pair_.signals_all() || (wr.send_flags & IBV_SEND_SIGNALED);
  request.solicited = (wr.send_flags & IBV_SEND_SOLICITED) != 0;
  request.is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (request.is_atomic()) {
    request.remote_address = wr.wr.atomic.remote_addr;
    request.rkey = wr.wr.atomic.rkey;
    request.compare_add = wr.wr.atomic.compare_add;
    request.swap = wr.wr.atomic.swap;
  } else if (!request.is_send()) {
    request.remote_address = wr.wr.rdma.remote_addr;
    request.rkey = wr.wr.rdma.rkey;
  }
  uint64_t length = 0;
  for (uint32_t i = 0; i < request.num_sge; ++i) length += wr.sg_list[i].length;
  request.too_long = length > kMaxMessage;
  request.length = static_cast<uint32_t>(length);
  if (request.is_inline) {
    if (length > max_inline_ || request.has_sink()) return EINVAL;
    char* place = inline_data_.data() + queue_.index(position) * max_inline_;
    for (uint32_t i = 0; i < request.num_sge; ++i) {
      std::memcpy(place, reinterpret_cast<const void*>(wr.sg_list[i].addr), wr.sg_list[i].length);
      place += wr.sg_list[i].length;
    }
  } else {
    std::copy_n(wr.sg_list, request.num_sge, queue_.sges(position));
  }
  if (request.is_send() || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    request.msn = next_msn_++;
  }
  queue_.advance();
  return 0;
}

void Requester::advance() {
  while (next_ != queue_.posted() && !paused_) {
    if (queue_pair_.state() != IBV_QPS_RTS) return;
    if (queue_pair_.port_is_down()) {
      // What is on its way still arrives; nothing more gets out.
      if (first_ == next_ && !awaiting_) on_not_ready();
      return;
    }
    if (!(exclusive() ? run_exclusive() : start_next())) return;
  }
}

bool Requester::start_next() {
  if (held_) {
    held_ = false;
    complete_first(IBV_WC_SUCCESS);
    return true;
  }
  SendRequest& request = queue_.at(next_);
  const bool notice = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const bool overlaps = request.is_send() && request.length <= kMaxPayload;
  if (!overlaps && first_ != next_) return false;
  if (faults_ != nullptr) {
    const Meeting meeting = meet_faults(request);
    if (meeting != Meeting::kStarts) return meeting == Meeting::kMoved;
  }
  PieceList pieces;
  if (request.too_long || !collect(next_, pieces)) {
    // Errors too complete in order.
    if (first_ != next_) return false;
    fail(request.too_long ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR);
    return false;
  }
  if (overlaps) return start_message(request, pieces);
  if (request.is_send()) {
    begin_exclusive(Exclusive::kSend);
    return true;
  }
  if (request.is_atomic()) {
    begin_exclusive(Exclusive::kAtomic);
    return true;
  }
  return start_direct(request, pieces) && (!notice || exclusive() || start_message(request, {}));
}

bool Requester::start_direct(SendRequest& request, const PieceList& pieces) {
  switch (access_peer(request, pieces)) {
    case Access::kDone:
      made_progress();
      if (request.has_immediate()) return true;
      if (hold_ != Clock::duration::zero()) {
        hold_completion();
        return false;
      }
      ++next_;
      complete_first(IBV_WC_SUCCESS);
      return true;
    case Access::kNotReady:
      on_not_ready();
      return false;
    case Access::kGone:
      fail(IBV_WC_RETRY_EXC_ERR);
      return false;
    case Access::kInvalid:
      return refuse(IBV_WC_REM_INV_REQ_ERR);
    case Access::kRefusedKey:
      return refuse(IBV_WC_REM_ACCESS_ERR);
    case Access::kRefusedCopy:
      begin_exclusive(request.is_read() ? Exclusive::kCopyRead : Exclusive::kCopyWrite);
      return true;
    case Access::kFault:
      fail(IBV_WC_REM_OP_ERR);
      return false;
  }
  return false;
}

/// The responder hears of the violation before it completes here.
bool Requester::refuse(ibv_wc_status status) {
  refusal_ = status;
  begin_exclusive(Exclusive::kViolation);
  return true;
}

Route Requester::route() const {
  const ibv_qp_attr& attributes = queue_pair_.attributes();
  return {attributes.dest_qp_num, queue_pair_.qp_num, attributes.sq_psn,
          queue_pair_.process().token(), queue_pair_.dest_port()};
}

Access Requester::access_peer(const SendRequest& request, const PieceList& pieces) {
  Peer* peer = queue_pair_.peer().get();
  if (peer == nullptr) return Access::kGone;
  return access_directly(*peer, route(), {request.rkey, request.remote_address, request.length},
                         pieces, request.is_read());
}

bool Requester::start_message(SendRequest& request, const PieceList& pieces) {
  const bool notice = request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  Message message = make_message(request, notice ? MessageType::kWriteImm : MessageType::kSend);
  message.flags |= kFirst | kLast;
  if (!notice) message.payload = request.length;
  switch (send(message, pieces)) {
    case Peer::Sent::kSent:
      ++next_;
      return true;
    case Peer::Sent::kFull:
      return false;
    case Peer::Sent::kGone:
      // What was sent before may have been answered; that the peer is dead comes after.
      if (first_ == next_) fail(IBV_WC_RETRY_EXC_ERR);
      return false;
  }
  return false;
}

bool Requester::collect(uint64_t position, PieceList& pieces) {
  const SendRequest& request = queue_.at(position);
  if (request.is_inline) {
    const char* data = inline_data_.data() + queue_.index(position) * max_inline_;
    pieces.add(reinterpret_cast<uint64_t>(data), request.length);
    return true;
  }
  unsigned required = 0;
  if (request.has_sink()) required |= IBV_ACCESS_LOCAL_WRITE;
  if (request.is_read() && Settings::get().iwarp()) required |= IBV_ACCESS_REMOTE_WRITE;
  SharedTable& table = queue_pair_.process().table();
  for (const ibv_sge& sge : queue_.sges_of(position)) {
    if (sge.length == 0) continue;
    const auto address =
        translate(table, sge.lkey, sge.addr, sge.length, queue_pair_.pd->handle, required);
    if (!address) return false;
    pieces.add(*address, sge.length);
  }
  return !request.is_atomic() || request.length >= kAtomicSize;
}

Message Requester::make_message(const SendRequest& request, MessageType type) const {
  Message message{};
  message.type = type;
  message.source_qpn = queue_pair_.qp_num;
  message.dest_qpn = queue_pair_.attributes().dest_qp_num;
  message.epoch = epoch_;
  message.psn = queue_pair_.attributes().sq_psn;
  message.msn = request.msn;
  message.dest_port = queue_pair_.dest_port();
  if (request.has_immediate()) message.flags |= kHasImmediate;
  if (request.solicited) message.flags |= kSolicited;
  message.immediate = request.immediate;
  message.rkey = request.rkey;
  message.remote_address = request.remote_address;
  message.length = request.length;
  return message;
}

Peer::Sent Requester::send(const Message& message, const PieceList& pieces) {
  Peer* peer = queue_pair_.peer().get();
  return peer == nullptr ? Peer::Sent::kGone : peer->send(message, pieces.pieces());
}

void Requester::complete_first(ibv_wc_status status) {
  const uint64_t position = first_++;
  next_ = std::max(next_, first_);
  queue_pair_.complete_send(position, queue_.at(position), status);
}

void Requester::fail(ibv_wc_status status) {
  exclusive_ = Exclusive::kNone;
  awaiting_ = false;
  complete_first(status);
  queue_pair_.enter_error_holding_send();
}

void Requester::flush() {
  exclusive_ = Exclusive::kNone;
  awaiting_ = false;
  paused_ = false;
  if (faults_ != nullptr) forget_faults();
  while (first_ != queue_.posted()) complete_first(IBV_WC_WR_FLUSH_ERR);
}

void Requester::start() {
  begin_epoch();
  if (faults_ != nullptr) queue_pair_.process().late_writes().lose(queue_pair_.qp_num);
}

void Requester::begin_epoch() {
  ++epoch_;
  next_msn_ = 0;
  spoken_ = false;
  rnr_retries_ = 0;
  not_ready_since_.reset();
  paused_ = false;
}

void Requester::reset() {
  if (faults_ != nullptr) forget_faults();
  queue_.reset();
  first_ = next_ = 0;
  exclusive_ = Exclusive::kNone;
  awaiting_ = false;
  begin_epoch();
}

}  // namespace softverbs
