#include "common/softverbs/verbs/queue_pair.h"

#include <cerrno>
#include <system_error>

#include "common/softverbs/verbs/completion_queue.h"
#include "common/softverbs/verbs/connection.h"
#include "common/softverbs/verbs/context.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/protection_domain.h"
#include "common/softverbs/verbs/service.h"

namespace softverbs {
namespace {

ibv_wc_opcode completion_opcode(ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

Process& with_service(ibv_pd* pd) {
  Process& process = ProtectionDomain::from(pd)->process();
  process.service().start();
  return process;
}

uint32_t reserve(Process& process, QueuePair* queue_pair) {
  const uint32_t index = process.queue_pairs().add(queue_pair);
  if (index == 0) throw std::system_error(ENOMEM, std::generic_category(), "all are in use");
  return index;
}

}  // namespace

QueuePair::QueuePair(ibv_pd* pd_of, const ibv_qp_init_attr& init)
    : ibv_qp{},
      process_(with_service(pd_of)),
      device_(Context::from(pd_of->context)->device()),
      index_(reserve(process_, this)),
      slot_(process_.table().queue_pair(index_)),
      capabilities_(init.cap),
      signals_all_(init.sq_sig_all != 0),
      requester_(*this, init.cap),
      responder_(*this, init.cap) {
  context = pd_of->context;
  qp_context = init.qp_context;
  pd = pd_of;
  send_cq = init.send_cq;
  recv_cq = init.recv_cq;
  handle = process_.next_handle();
  ibv_qp::state = IBV_QPS_RESET;
  qp_type = init.qp_type;
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  ProtectionDomain::from(pd)->users.fetch_add(1);
  CompletionQueue::from(send_cq)->users.fetch_add(1);
  CompletionQueue::from(recv_cq)->users.fetch_add(1);
  const auto lock = process_.queue_pairs().lock();
  qp_num = process_.service().block() << kQueuePairBits | index_;
  slot_.state.store(IBV_QPS_RESET);
  slot_.pd.store(pd->handle);
  slot_.access.store(0);
  slot_.dest_qpn.store(0);
  slot_.dest_token.store(0);
  slot_.port.store(0);
  slot_.qpn.store(qp_num);
  process_.queue_pairs().publish(index_);
}

QueuePair::~QueuePair() {
  CompletionQueue::from(recv_cq)->users.fetch_sub(1);
  CompletionQueue::from(send_cq)->users.fetch_sub(1);
  ProtectionDomain::from(pd)->users.fetch_sub(1);
  process_.queue_pairs().remove(index_, this);
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

int QueuePair::post_send(ibv_send_wr* request, ibv_send_wr** bad) {
  Context::from(context)->disturb();
  std::lock_guard lock(send_mutex_);
  const ibv_qp_state now = state();
  int error = 0;
  if (now != IBV_QPS_RTS && now != IBV_QPS_SQD && now != IBV_QPS_ERR) error = EINVAL;
  if (dead()) error = EIO;
  if (error != 0) {
    *bad = request;
    return error;
  }
  error = requester_.post(request, bad);
  if (now == IBV_QPS_ERR) {
    requester_.flush();
  } else {
    requester_.advance();
    if (overrun_.load()) enter_error_holding_send();
  }
  return error;
}

int QueuePair::post_receive(ibv_recv_wr* request, ibv_recv_wr** bad) {
  std::lock_guard lock(receive_mutex_);
  const ibv_qp_state now = state();
  if (now == IBV_QPS_RESET || dead()) {
    *bad = request;
    return dead() ? EIO : EINVAL;
  }
  const int error = responder_.post(request, bad);
  if (now == IBV_QPS_ERR) responder_.flush();
  return error;
}

void QueuePair::complete_send(uint64_t position, const SendRequest& request, ibv_wc_status status) {
  if (status == IBV_WC_SUCCESS && !request.signaled) return;
  Completion completion;
  completion.owner = this;
  completion.consumed = &requester_.consumed();
  completion.consumed_to = position + 1;
  completion.wc.wr_id = request.wr_id;
  completion.wc.status = status;
  completion.wc.opcode = completion_opcode(request.opcode);
  completion.wc.qp_num = qp_num;
  if (request.has_sink()) completion.wc.byte_len = request.length;
  if (!CompletionQueue::from(send_cq)->push(completion, status != IBV_WC_SUCCESS)) {
    overrun_.store(true);
  }
}

void QueuePair::complete_receive(const Completion& completion, bool solicited) {
  if (!CompletionQueue::from(recv_cq)->push(completion, solicited)) overrun_.store(true);
}

void QueuePair::report(ibv_event_type type) {
  Context::from(context)->report(this, type);
}

void QueuePair::enter_error_holding_send() {
  slot_.state.store(IBV_QPS_ERR);
  if (overrun_.exchange(false)) report(IBV_EVENT_QP_FATAL);
  requester_.flush();
  std::lock_guard lock(receive_mutex_);
  responder_.flush();
}

void QueuePair::enter_error() {
  std::lock_guard lock(send_mutex_);
  enter_error_holding_send();
}

void QueuePair::wait_for_copies() {
  std::shared_ptr<Peer> peer;
  {
    std::scoped_lock lock(send_mutex_, receive_mutex_);
    peer = peer_;
  }
  BusyWord::wait_until_free(slot_.busy, peer ? peer->pidfd() : -1);
}

void QueuePair::disconnect() {
  if (process_.inherited()) return;  // The slot is the parent's.
  slot_.qpn.store(0);
  slot_.state.store(IBV_QPS_RESET);
  {
    std::scoped_lock lock(send_mutex_, receive_mutex_);
    forget_requests();
  }
  wait_for_copies();
}

void QueuePair::forget_requests() {
  // First the completions: polling one says how far the queues are free.
  CompletionQueue::from(send_cq)->remove(this);
  CompletionQueue::from(recv_cq)->remove(this);
  requester_.reset();
  responder_.reset();
}

void QueuePair::withdraw() {
  // From here on the service does not find it: it reports nothing more.
  process_.queue_pairs().remove(index_, this);
  Context::from(context)->async_events().discard([this](const ibv_async_event& event) {
    return is_queue_pair_event(event.event_type) && event.element.qp == this;
  });
  pthread_mutex_lock(&mutex);
  while (events_completed != async_delivered.load()) pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
}

void QueuePair::on_request(Connection& connection, const Message& request, const char* payload) {
  Responder::Result result;
  {
    std::lock_guard lock(receive_mutex_);
    const ibv_qp_state now = state();
    const bool connected = now != IBV_QPS_RESET && now != IBV_QPS_INIT &&
                           slot_.dest_qpn.load() == request.source_qpn &&
                           slot_.dest_token.load() == connection.token() &&
                           slot_.rq_psn.load() == request.psn &&
                           slot_.port.load() == request.dest_port;
    if (now == IBV_QPS_ERR || !connected || port_is_down()) {
      const bool gone = now == IBV_QPS_ERR;
      const auto status = gone ? ReplyStatus::kGone : ReplyStatus::kNotReady;
      return connection.reply(Responder::answer(request, status), nullptr);
    }
    std::vector<char>& answer = connection.answer_buffer();
    result = responder_.handle(request, payload, answer);
    // First the state, then the answer, then what the program sees: it may exit at once.
    if (result.fails) slot_.state.store(IBV_QPS_ERR);
    if (result.reply) connection.reply(*result.reply, answer.data());
    if (result.completion) complete_receive(*result.completion, result.solicited);
    if (now == IBV_QPS_RTR && result.reply && !established_) {
      established_ = true;
      report(IBV_EVENT_COMM_EST);
    }
  }
  if (result.event) report(*result.event);
  if (result.fails || overrun_.load()) enter_error();
}

void QueuePair::on_reply(const Message& reply, const char* payload) {
  std::lock_guard lock(send_mutex_);
  requester_.on_reply(reply, payload);
  after_progress();
}

void QueuePair::resume() {
  std::lock_guard lock(send_mutex_);
  requester_.advance();
  after_progress();
}

void QueuePair::on_timer() {
  std::lock_guard lock(send_mutex_);
  requester_.on_timer();
  after_progress();
}

void QueuePair::on_writable(const Peer& peer) {
  std::lock_guard lock(send_mutex_);
  if (peer_.get() != &peer) return;
  requester_.advance();
  after_progress();
}

void QueuePair::on_peer_death(const Peer& peer) {
  std::lock_guard lock(send_mutex_);
  if (peer_.get() != &peer) return;
  requester_.on_peer_death();
  after_progress();
}

void QueuePair::on_device_removal() {
  {
    std::scoped_lock lock(send_mutex_, receive_mutex_);
    slot_.state.store(IBV_QPS_ERR);
    requester_.reset();
    responder_.reset();
  }
  wait_for_copies();
}

bool QueuePair::dead() const {
  return process_.inherited() || device_.removed.load(std::memory_order_relaxed);
}

void QueuePair::after_progress() {
  if (overrun_.load()) enter_error_holding_send();
  check_drained();
}

void QueuePair::check_drained() {
  if (notify_drained_ && state() == IBV_QPS_SQD && requester_.idle()) {
    notify_drained_ = false;
    report(IBV_EVENT_SQ_DRAINED);
  }
}

}  // namespace softverbs
