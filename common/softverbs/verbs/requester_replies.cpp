// The part of Requester that deals with exclusive requests, replies and retries.
#include <algorithm>
#include <array>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"
#include "common/softverbs/verbs/requester.h"
#include "common/softverbs/verbs/service.h"
#include "common/softverbs/verbs/settings.h"

namespace softverbs {
namespace {

constexpr uint8_t kRetryForEver = 7;
constexpr auto kNotReadyPause = std::chrono::microseconds(500);

/// The encoded RNR NAK timer in units of 10 us (InfiniBand specification, table 45).
Clock::duration rnr_time(uint8_t timer) {
  constexpr std::array<uint32_t, 32> kTens{65536, 1,    2,    3,     4,     6,     8,     12,
                                           16,    24,   32,   48,    64,    96,    128,   192,
                                           256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                           4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
  return std::chrono::microseconds(10) * kTens[timer & 31];
}

/// The local ACK timeout: 4.096 us times a power of two.
Clock::duration ack_time(uint8_t timeout) {
  return std::chrono::nanoseconds(4096) * (1LL << (timeout & 31));
}

ibv_wc_status completion_status(ReplyStatus status) {
  switch (status) {
    case ReplyStatus::kInvalid:
      return IBV_WC_REM_INV_REQ_ERR;
    case ReplyStatus::kAccess:
      return IBV_WC_REM_ACCESS_ERR;
    case ReplyStatus::kFailed:
      return IBV_WC_REM_OP_ERR;
    default:
      return IBV_WC_RETRY_EXC_ERR;
  }
}

/// What the responder is told of a violation that completes with this status.
ReplyStatus reply_status(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_REM_INV_REQ_ERR:
      return ReplyStatus::kInvalid;
    case IBV_WC_REM_OP_ERR:
      return ReplyStatus::kFailed;
    default:
      return ReplyStatus::kAccess;
  }
}

MessageType message_type(bool atomic, bool send, bool read) {
  if (atomic) return MessageType::kAtomic;
  if (send) return MessageType::kSend;
  return read ? MessageType::kCopyRead : MessageType::kCopyWrite;
}

}  // namespace

void Requester::begin_exclusive(Exclusive kind) {
  exclusive_ = kind;
  awaiting_ = false;
  offset_ = 0;
}

bool Requester::run_exclusive() {
  if (awaiting_) return false;
  const SendRequest& request = queue_.at(first_);
  Message message{};
  PieceList pieces;
  if (exclusive_ == Exclusive::kViolation) {
    message = make_message(request, MessageType::kViolation);
    message.status = reply_status(refusal_);
  } else {
    if (!collect(first_, pieces)) {
      fail(IBV_WC_LOC_PROT_ERR);
      return false;
    }
    message = make_message(
        request, message_type(exclusive_ == Exclusive::kAtomic, exclusive_ == Exclusive::kSend,
                              exclusive_ == Exclusive::kCopyRead));
    const auto left = std::min<size_t>(request.length - offset_, kMaxPayload);
    message.offset = offset_;
    if (offset_ == 0) message.flags |= kFirst;
    if (offset_ + left == request.length) message.flags |= kLast;
    if (exclusive_ == Exclusive::kAtomic) {
      if (request.opcode == IBV_WR_ATOMIC_CMP_AND_SWP) message.flags |= kCompareSwap;
      message.compare_add = request.compare_add;
      message.swap = request.swap;
    } else {
      message.payload = static_cast<uint32_t>(left);
    }
    const bool has_payload = exclusive_ == Exclusive::kSend || exclusive_ == Exclusive::kCopyWrite;
    pieces = has_payload ? pieces.slice(offset_, left) : PieceList();
  }
  switch (send(message, pieces)) {
    case Peer::Sent::kSent:
      awaiting_ = true;
      return false;
    case Peer::Sent::kFull:
      return false;
    case Peer::Sent::kGone:
      fail(exclusive_ == Exclusive::kViolation ? refusal_ : IBV_WC_RETRY_EXC_ERR);
      return false;
  }
  return false;
}

void Requester::on_reply(const Message& reply, const char* payload) {
  const ibv_qp_state state = queue_pair_.state();
  if (reply.epoch != epoch_ || (state != IBV_QPS_RTS && state != IBV_QPS_SQD)) return;
  if (exclusive()) {
    if (!awaiting_) return;
    awaiting_ = false;
    on_exclusive_reply(reply, payload);
    return advance();
  }
  // Everything in front of the request that the reply names has arrived too, unless none was
  // looked at.
  const bool looked_at =
      reply.status != ReplyStatus::kNotReady && reply.status != ReplyStatus::kGone;
  while (looked_at && first_ != next_) {
    const int32_t ahead = static_cast<int32_t>(queue_.at(first_).msn - reply.msn);
    if (ahead > 0 || (ahead == 0 && reply.status != ReplyStatus::kDone)) break;
    made_progress();
    complete_first(IBV_WC_SUCCESS);
  }
  if (reply.status != ReplyStatus::kDone && first_ != next_ && queue_.at(first_).msn == reply.msn) {
    on_negative_reply(reply);
  }
  advance();
}

void Requester::on_exclusive_reply(const Message& reply, const char* payload) {
  if (exclusive_ == Exclusive::kViolation) {
    // An iWARP WRITE has completed when it was sent; that it was refused shows in the connection.
    const bool sent = Settings::get().iwarp() && queue_.at(first_).is_write();
    return fail(sent ? IBV_WC_SUCCESS : refusal_);
  }
  if (reply.status != ReplyStatus::kDone) return on_negative_reply(reply);
  made_progress();
  PieceList pieces;
  if (!collect(first_, pieces)) return fail(IBV_WC_LOC_PROT_ERR);
  const SendRequest& request = queue_.at(first_);
  if (exclusive_ == Exclusive::kAtomic) {
    scatter(pieces.slice(0, sizeof reply.compare_add), &reply.compare_add);
    offset_ = request.length;
  } else {
    const auto done =
        static_cast<uint32_t>(std::min<size_t>(request.length - offset_, kMaxPayload));
    if (exclusive_ == Exclusive::kCopyRead) scatter(pieces.slice(offset_, done), payload);
    offset_ += done;
  }
  if (offset_ != request.length) return;
  exclusive_ = Exclusive::kNone;
  if (request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    start_message(queue_.at(first_), {});
    return;
  }
  complete_first(IBV_WC_SUCCESS);
}

void Requester::on_negative_reply(const Message& reply) {
  switch (reply.status) {
    case ReplyStatus::kNoReceive:
      return on_no_receive(static_cast<uint8_t>(reply.rnr_timer));
    case ReplyStatus::kNotReady:
      return on_not_ready();
    default:
      return fail(completion_status(reply.status));
  }
}

void Requester::on_no_receive(uint8_t timer) {
  const uint8_t limit = queue_pair_.attributes().rnr_retry;
  if (limit != kRetryForEver && rnr_retries_ >= limit) return fail(IBV_WC_RNR_RETRY_EXC_ERR);
  ++rnr_retries_;
  next_ = first_;
  pause(rnr_time(timer));
}

void Requester::on_not_ready() {
  const auto now = Clock::now();
  if (!not_ready_since_) not_ready_since_ = now;
  const ibv_qp_attr& attributes = queue_pair_.attributes();
  const auto patience = ack_time(attributes.timeout) * (attributes.retry_cnt + 1);
  if (attributes.timeout != 0 && now - *not_ready_since_ >= patience) {
    return fail(IBV_WC_RETRY_EXC_ERR);
  }
  next_ = first_;
  pause(kNotReadyPause);
}

void Requester::pause(Clock::duration time) {
  paused_ = true;
  resume_at_ = Clock::now() + time;
  queue_pair_.process().service().schedule(queue_pair_.qp_num, resume_at_);
}

void Requester::on_timer() {
  if (!paused_ || Clock::now() < resume_at_) return;
  paused_ = false;
  advance();
}

void Requester::on_peer_death() {
  const ibv_qp_state state = queue_pair_.state();
  const bool waits = state == IBV_QPS_RTS ? first_ != queue_.posted() : !idle();
  if (waits && (state == IBV_QPS_RTS || state == IBV_QPS_SQD)) fail(IBV_WC_RETRY_EXC_ERR);
}

void Requester::made_progress() {
  rnr_retries_ = 0;
  not_ready_since_.reset();
}

}  // namespace softverbs
