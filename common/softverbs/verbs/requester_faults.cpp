// The part of Requester that lets faults strike: see common/softverbs/faults/README.md.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"
#include "common/softverbs/verbs/requester.h"
#include "common/softverbs/verbs/service.h"
#include "common/softverbs/verbs/settings.h"

namespace softverbs {
namespace {

using std::chrono::microseconds;

/// The statuses that a request can end with; those of messages, which need a receive, come last.
constexpr std::array kStatuses{
    IBV_WC_LOC_QP_OP_ERR,  IBV_WC_LOC_PROT_ERR,    IBV_WC_RETRY_EXC_ERR,    IBV_WC_REM_OP_ERR,
    IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_RNR_RETRY_EXC_ERR};
constexpr size_t kOfOneSided = 6;

bool takes_receive(const SendRequest& request) {
  return request.is_send() || request.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

ibv_wc_status choose_status(const Strike& strike, const SendRequest& request) {
  if (strike.rule.status) return static_cast<ibv_wc_status>(*strike.rule.status);
  const size_t count = takes_receive(request) ? kStatuses.size() : kOfOneSided;
  return kStatuses[strike.random % count];
}

const char* describe(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_LOC_LEN_ERR:
      return "loc-len";
    case IBV_WC_LOC_QP_OP_ERR:
      return "loc-qp-op";
    case IBV_WC_LOC_PROT_ERR:
      return "loc-prot";
    case IBV_WC_REM_INV_REQ_ERR:
      return "rem-inv-req";
    case IBV_WC_REM_ACCESS_ERR:
      return "rem-access";
    case IBV_WC_REM_OP_ERR:
      return "rem-op";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "rnr-retry-exc";
    default:
      return "retry-exc";
  }
}

bool is_plain_write(const SendRequest& request) {
  return request.opcode == IBV_WR_RDMA_WRITE;
}

}  // namespace

bool Requester::strikes_post() {
  if (!faults_->strike(Fault::kPostFull)) return false;
  faults_->log(Fault::kPostFull, "");
  return true;
}

Requester::Meeting Requester::meet_faults(SendRequest& request) {
  if (!request.met_faults) {
    request.met_faults = true;
    hold_ = {};
    fate_ = draw_fault(request);
    fate_of_ = next_;
  }
  // After a retry it may be the fate of a request further behind.
  if (!fate_ || fate_of_ != next_) return Meeting::kStarts;
  // Faults strike in order: what was sent before is answered first.
  if (first_ != next_) return Meeting::kWaits;
  switch (fate_->rule.fault) {
    case Fault::kDelay:
      if (delayed_) break;
      delay(request);
      return Meeting::kWaits;
    case Fault::kUnheard:
      if (queue_.posted() - next_ == 1) return Meeting::kWaits;
      break;
    case Fault::kError:
      return fail_with_error(request);
    case Fault::kQpDeath:
      die();
      return Meeting::kWaits;
    default:
      give_up_early();
      return Meeting::kWaits;
  }
  delayed_ = false;
  fate_.reset();
  return Meeting::kStarts;
}

std::optional<Strike> Requester::draw_fault(const SendRequest& request) {
  if (is_first_word()) {
    if (auto strike = faults_->strike(Fault::kUnheard)) {
      faults_->log(Fault::kUnheard, "");
      return strike;
    }
  }
  for (const Fault fault : {Fault::kError, Fault::kQpDeath, Fault::kLateWrite, Fault::kDelay}) {
    if (fault == Fault::kLateWrite && !is_plain_write(request)) continue;
    if (auto strike = faults_->strike(fault)) return strike;
  }
  return std::nullopt;
}

bool Requester::is_first_word() {
  return !std::exchange(spoken_, true) && Settings::get().iwarp() && queue_pair_.has_asked();
}

/// The request is carried out at some time before its completion comes.
void Requester::delay(const SendRequest& request) {
  const microseconds whole = fate_->random_time();
  faults_->log(Fault::kDelay, std::to_string(whole.count()));
  const bool direct = request.is_read() || is_plain_write(request);
  const auto before = direct
                          ? microseconds(static_cast<microseconds::rep>(
                                (fate_->random >> 32) % (static_cast<uint64_t>(whole.count()) + 1)))
                          : whole;
  hold_ = whole - before;
  delayed_ = true;
  pause(before);
}

void Requester::hold_completion() {
  held_ = true;
  pause(hold_);
  hold_ = {};
}

Requester::Meeting Requester::fail_with_error(SendRequest& request) {
  const Strike strike = *fate_;
  fate_.reset();
  const ibv_wc_status status = choose_status(strike, request);
  faults_->log(Fault::kError, describe(status));
  // When no answer has come, or a bad one from within the responder, it may have been done.
  const bool unsure = status == IBV_WC_RETRY_EXC_ERR || status == IBV_WC_REM_OP_ERR;
  if (unsure && (strike.random >> 32) % 2 == 0) carry_out(first_);
  switch (status) {
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      refuse(status);
      return Meeting::kMoved;
    default:
      fail(status);
      return Meeting::kWaits;
  }
}

/// Both ends fail. Of the requests in flight, the first ones were done, and no answer will come.
void Requester::die() {
  const Strike strike = *fate_;
  fate_.reset();
  const uint64_t in_flight = queue_.posted() - first_;
  const uint64_t done = strike.random % (in_flight + 1);
  faults_->log(Fault::kQpDeath, std::to_string(done) + "/" + std::to_string(in_flight));
  for (uint64_t i = 0; i < done && carry_out(first_ + i); ++i) {
  }
  Message message = make_message(queue_.at(first_), MessageType::kViolation);
  message.status = ReplyStatus::kFailed;
  send(message, {});
  fail(IBV_WC_RETRY_EXC_ERR);
}

/// The connection is given up at this end, while WRITEs are on their way. The other does not know.
void Requester::give_up_early() {
  const Strike strike = *fate_;
  fate_.reset();
  const auto when = Clock::now() + strike.random_time();
  const uint64_t in_flight = queue_.posted() - first_;
  const uint64_t most = 1 + (strike.random >> 32) % in_flight;
  uint64_t count = 0;
  for (; count < most && is_plain_write(queue_.at(first_ + count)); ++count) {
    launch_late(first_ + count, when);
  }
  faults_->log(Fault::kLateWrite, std::to_string(count) + "/" + std::to_string(in_flight));
  fail(IBV_WC_RETRY_EXC_ERR);
}

void Requester::launch_late(uint64_t position, Clock::time_point when) {
  PieceList pieces;
  const SendRequest& request = queue_.at(position);
  if (queue_pair_.peer() == nullptr || !collect(position, pieces)) return;
  LateWrite late{queue_pair_.peer(),
                 route(),
                 {request.rkey, request.remote_address, request.length},
                 std::vector<char>(request.length)};
  gather(pieces, late.data.data());
  queue_pair_.process().late_writes().add(std::move(late), when);
}

/// The queue pair fails or ends while a WRITE is delayed: that one is on its way.
void Requester::leave_delayed_on_network() {
  if (!delayed_ || first_ == queue_.posted() || !is_plain_write(queue_.at(first_))) return;
  if (!faults_->expects(Fault::kLateWrite)) return;
  faults_->log(Fault::kLateWrite, "delayed");
  launch_late(first_, resume_at_);
}

/// Does what a request asks for, without completing it.
/// \return false when that cannot be done at once: then nothing behind it may be done either.
bool Requester::carry_out(uint64_t position) {
  SendRequest& request = queue_.at(position);
  PieceList pieces;
  if (request.too_long || !collect(position, pieces)) return false;
  if (request.is_read() || is_plain_write(request)) {
    return access_peer(request, pieces) == Access::kDone;
  }
  if (!request.is_send() || request.length > kMaxPayload) return false;
  Message message = make_message(request, MessageType::kSend);
  message.flags |= kFirst | kLast;
  message.payload = request.length;
  return send(message, pieces) == Peer::Sent::kSent;
}

void Requester::forget_faults() {
  leave_delayed_on_network();
  fate_.reset();
  delayed_ = false;
  held_ = false;
  hold_ = {};
}

}  // namespace softverbs
