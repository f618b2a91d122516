#include "common/softverbs/verbs/responder.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/memory_region.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"

namespace softverbs {
namespace {

constexpr uint64_t kAtomicSize = 8;

}  // namespace

Responder::Responder(QueuePair& queue_pair, const ibv_qp_cap& capabilities)
    : queue_pair_(queue_pair), queue_(capabilities.max_recv_wr, capabilities.max_recv_sge) {}

int Responder::post(const ibv_recv_wr* request, ibv_recv_wr** bad) {
  for (; request != nullptr; request = request->next) {
    if (const int error = enqueue(*request)) {
      *bad = const_cast<ibv_recv_wr*>(request);
      return error;
    }
  }
  return 0;
}

int Responder::enqueue(const ibv_recv_wr& wr) {
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > queue_.max_sge()) return EINVAL;
  if (queue_.full()) return ENOMEM;
  const uint64_t position = queue_.posted();
  ReceiveRequest& request = queue_.at(position);
  uint64_t length = 0;
  for (int i = 0; i < wr.num_sge; ++i) length += wr.sg_list[i].length;
  request = {wr.wr_id, static_cast<uint32_t>(wr.num_sge),
             static_cast<uint32_t>(std::min<uint64_t>(length, UINT32_MAX))};
  std::copy_n(wr.sg_list, request.num_sge, queue_.sges(position));
  queue_.advance();
  return 0;
}

void Responder::start() {
  expected_msn_ = 0;
  delivering_ = false;
}

void Responder::reset() {
  queue_.reset();
  first_ = 0;
  start();
}

void Responder::flush() {
  delivering_ = false;
  while (first_ != queue_.posted()) {
    queue_pair_.complete_receive(take_first({}, IBV_WC_WR_FLUSH_ERR), true);
  }
}

Message Responder::answer(const Message& request, ReplyStatus status) {
  Message reply{};
  reply.type = MessageType::kReply;
  reply.status = status;
  reply.source_qpn = request.dest_qpn;
  reply.dest_qpn = request.source_qpn;
  reply.epoch = request.epoch;
  reply.msn = request.msn;
  return reply;
}

Responder::Result Responder::respond(const Message& request, ReplyStatus status) {
  Result result;
  result.reply = answer(request, status);
  if (status == ReplyStatus::kInvalid || status == ReplyStatus::kAccess) {
    result.fails = true;
    result.event = status == ReplyStatus::kAccess ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR;
  }
  return result;
}

Responder::Result Responder::fail(const Message& request) {
  Result result = respond(request, request.status);
  if (!result.fails) result.event = IBV_EVENT_QP_FATAL;
  result.fails = true;
  return result;
}

Responder::Result Responder::handle(const Message& request, const char* payload,
                                    std::vector<char>& answer_data) {
  switch (request.type) {
    case MessageType::kSend:
    case MessageType::kWriteImm:
      return deliver(request, payload);
    case MessageType::kAtomic:
      return serve_atomic(request, answer_data);
    case MessageType::kCopyWrite:
    case MessageType::kCopyRead:
      return serve_copy(request, payload, answer_data);
    case MessageType::kViolation:
      return fail(request);
    case MessageType::kReply:
    case MessageType::kRegionGone:
      break;
  }
  return {};
}

Responder::Result Responder::deliver(const Message& request, const char* payload) {
  if (request.msn != expected_msn_) return {};
  if (request.flags & kFirst) {
    if (first_ == queue_.posted()) {
      Result result = respond(request, ReplyStatus::kNoReceive);
      result.reply->rnr_timer = queue_pair_.attributes().min_rnr_timer;
      return result;
    }
    Result result = begin_delivery(request);
    if (result.reply) return result;
  }
  if (!delivering_) return {};
  scatter(pieces_.slice(request.offset, request.payload), payload);
  Result result = respond(request, ReplyStatus::kDone);
  if (request.flags & kLast) {
    delivering_ = false;
    ++expected_msn_;
    result.completion = take_first(request, IBV_WC_SUCCESS);
    result.solicited = (request.flags & kSolicited) != 0;
  }
  return result;
}

Responder::Result Responder::begin_delivery(const Message& request) {
  pieces_ = {};
  delivering_ = true;
  if (request.type == MessageType::kWriteImm) return {};
  if (request.length > queue_.at(first_).length) {
    return refuse_delivery(request, IBV_WC_LOC_LEN_ERR, ReplyStatus::kInvalid);
  }
  uint64_t left = request.length;
  for (const ibv_sge& sge : queue_.sges_of(first_)) {
    const uint64_t used = std::min<uint64_t>(sge.length, left);
    if (used == 0) continue;
    const auto address = translate(queue_pair_.process().table(), sge.lkey, sge.addr, sge.length,
                                   queue_pair_.pd->handle, IBV_ACCESS_LOCAL_WRITE);
    if (!address) return refuse_delivery(request, IBV_WC_LOC_PROT_ERR, ReplyStatus::kFailed);
    pieces_.add(*address, used);
    left -= used;
  }
  return {};
}

Responder::Result Responder::refuse_delivery(const Message& request, ibv_wc_status local,
                                             ReplyStatus remote) {
  delivering_ = false;
  Result result = respond(request, remote);
  result.completion = take_first(request, local);
  result.solicited = true;
  result.fails = true;
  result.event.reset();  // The completion tells.
  return result;
}

Completion Responder::take_first(const Message& request, ibv_wc_status status) {
  const uint64_t position = first_++;
  Completion completion;
  completion.owner = &queue_pair_;
  completion.consumed = &queue_.consumed;
  completion.consumed_to = position + 1;
  completion.wc.wr_id = queue_.at(position).wr_id;
  completion.wc.status = status;
  completion.wc.qp_num = queue_pair_.qp_num;
  const bool notice = request.type == MessageType::kWriteImm;
  completion.wc.opcode = notice ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  completion.wc.byte_len = request.length;
  completion.wc.src_qp = queue_pair_.attributes().dest_qp_num;
  if (request.flags & kHasImmediate) {
    completion.wc.wc_flags = IBV_WC_WITH_IMM;
    completion.wc.imm_data = request.immediate;
  }
  return completion;
}

Responder::Result Responder::serve_atomic(const Message& request, std::vector<char>&) {
  if (!(queue_pair_.slot().access.load() & IBV_ACCESS_REMOTE_ATOMIC)) {
    return respond(request, ReplyStatus::kInvalid);
  }
  if (request.remote_address % kAtomicSize != 0) return respond(request, ReplyStatus::kInvalid);
  const BusyWord busy(queue_pair_.slot().busy);
  const auto address =
      translate(queue_pair_.process().table(), request.rkey, request.remote_address, kAtomicSize,
                queue_pair_.pd->handle, IBV_ACCESS_REMOTE_ATOMIC);
  if (!address) return respond(request, ReplyStatus::kAccess);
  std::atomic_ref<uint64_t> value(*reinterpret_cast<uint64_t*>(*address));
  uint64_t before = request.compare_add;
  if (request.flags & kCompareSwap) {
    value.compare_exchange_strong(before, request.swap);
  } else {
    before = value.fetch_add(request.compare_add);
  }
  Result result = respond(request, ReplyStatus::kDone);
  result.reply->compare_add = before;
  return result;
}

Responder::Result Responder::serve_copy(const Message& request, const char* payload,
                                        std::vector<char>& answer_data) {
  const bool reads = request.type == MessageType::kCopyRead;
  const unsigned required = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
  if (!(queue_pair_.slot().access.load() & required)) {
    return respond(request, ReplyStatus::kInvalid);
  }
  const BusyWord busy(queue_pair_.slot().busy);
  const auto address = translate(queue_pair_.process().table(), request.rkey,
                                 request.remote_address + request.offset, request.payload,
                                 queue_pair_.pd->handle, required);
  if (!address || request.payload > kMaxPayload) return respond(request, ReplyStatus::kAccess);
  Result result = respond(request, ReplyStatus::kDone);
  if (reads) {
    answer_data.resize(kMaxPayload);
    copy_raw(answer_data.data(), reinterpret_cast<const void*>(*address), request.payload);
    result.reply->payload = request.payload;
  } else {
    copy_raw(reinterpret_cast<void*>(*address), payload, request.payload);
  }
  return result;
}

}  // namespace softverbs
