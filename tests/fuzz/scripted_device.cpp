#include "tests/fuzz/scripted_device.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {
namespace {

struct CompletionQueue {
  ibv_cq handle{};
  std::mutex mutex;
  std::deque<ibv_wc> completions;
};

CompletionQueue& queue_of(ibv_cq* cq) {
  return *static_cast<CompletionQueue*>(cq->cq_context);
}

int poll(ibv_cq* cq, int count, ibv_wc* into) {
  CompletionQueue& queue = queue_of(cq);
  const std::lock_guard lock(queue.mutex);
  const auto taken = std::min(static_cast<std::size_t>(count), queue.completions.size());
  const auto end = queue.completions.begin() + static_cast<std::ptrdiff_t>(taken);
  std::copy(queue.completions.begin(), end, into);
  queue.completions.erase(queue.completions.begin(), end);
  return static_cast<int>(taken);
}

int arm(ibv_cq* /*cq*/, int /*solicited*/) {
  return 0;  // every completion makes an event
}

int post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
  const int error = scripted(qp).post_send(list);
  if (error != 0) *bad = list;
  return error;
}

int post_receive(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
  const int error = scripted(qp).post_receive(list);
  if (error != 0) *bad = list;
  return error;
}

struct Device {
  Device() {
    device.transport_type = IBV_TRANSPORT_IB;
    context.device = &device;
    context.ops.poll_cq = poll;
    context.ops.req_notify_cq = arm;
    context.ops.post_send = post_send;
    context.ops.post_recv = post_receive;
  }
  ibv_device device{};
  ibv_context context{};
};

std::uint32_t next_key() {
  static std::atomic<std::uint32_t> last = 0;
  return ++last;
}

}  // namespace

ibv_context* scripted_context() {
  static Device device;
  return &device.context;
}

ScriptedQueuePair& scripted(ibv_qp* qp) {
  return *static_cast<ScriptedQueuePair*>(qp->qp_context);
}

ScriptedQueuePair::ScriptedQueuePair(const ibv_qp_init_attr& attributes)
    : cq_(attributes.send_cq),
      max_sends_(attributes.cap.max_send_wr),
      max_receives_(attributes.cap.max_recv_wr) {
  handle_.context = scripted_context();
  handle_.qp_context = this;
}

void ScriptedQueuePair::complete(const ibv_wc& completion) {
  CompletionQueue& queue = queue_of(cq_);
  {
    const std::lock_guard lock(queue.mutex);
    queue.completions.push_back(completion);
  }
  if (cq_->channel != nullptr) ::eventfd_write(cq_->channel->fd, 1);
}

bool ScriptedQueuePair::deliver(std::span<const std::byte> message) {
  const std::lock_guard lock(mutex_);
  if (receives_.empty()) return false;
  const Receive receive = receives_.front();
  receives_.pop_front();
  const bool fits = message.size() <= receive.buffer.size();
  if (fits) std::ranges::copy(message, receive.buffer.begin());
  ibv_wc completion{};
  completion.wr_id = receive.id;
  completion.status = fits ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;
  completion.opcode = IBV_WC_RECV;
  completion.byte_len = static_cast<std::uint32_t>(message.size());
  complete(completion);
  return true;
}

bool ScriptedQueuePair::deliver_immediate(std::uint32_t length) {
  const std::lock_guard lock(mutex_);
  if (receives_.empty()) return false;
  ibv_wc completion{};
  completion.wr_id = receives_.front().id;
  completion.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  completion.byte_len = length;
  receives_.pop_front();
  complete(completion);
  return true;
}

bool ScriptedQueuePair::complete_send(ibv_wc_status status) {
  const std::lock_guard lock(mutex_);
  const bool succeeds = status == IBV_WC_SUCCESS;
  const auto told = std::ranges::find_if(
      sending_, [succeeds](const Send& send) { return send.is_signalled || !succeeds; });
  if (told == sending_.end()) return false;
  ibv_wc completion{};
  completion.wr_id = told->id;
  completion.status = status;
  completion.opcode = IBV_WC_SEND;
  sending_.erase(sending_.begin(), told + 1);
  complete(completion);
  return true;
}

std::vector<std::vector<std::byte>> ScriptedQueuePair::take_sent() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::vector<std::span<std::byte>> ScriptedQueuePair::take_reads() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reads_, {});
}

std::size_t ScriptedQueuePair::receives() const {
  const std::lock_guard lock(mutex_);
  return receives_.size();
}

void ScriptedQueuePair::flush() {
  const std::lock_guard lock(mutex_);
  ibv_wc completion{};
  completion.status = IBV_WC_WR_FLUSH_ERR;
  for (const Send& send : std::exchange(sending_, {})) {
    completion.wr_id = send.id;
    complete(completion);
  }
  for (const Receive& receive : std::exchange(receives_, {})) {
    completion.wr_id = receive.id;
    complete(completion);
  }
}

int ScriptedQueuePair::post_send(const ibv_send_wr* list) {
  {
    const std::lock_guard lock(mutex_);
    for (; list != nullptr; list = list->next) start_send(*list);
  }
  if (on_sent_) on_sent_();
  return 0;
}

void ScriptedQueuePair::start_send(const ibv_send_wr& work) {
  // Who posts more than the queue pair holds has lost count.
  require(sending_.size() < max_sends_, "no more sends than the queue pair holds");
  require(work.num_sge == 1, "a send has one segment");
  const std::span segment(reinterpret_cast<std::byte*>(work.sg_list[0].addr),
                          work.sg_list[0].length);
  sending_.push_back({work.wr_id, (work.send_flags & IBV_SEND_SIGNALED) != 0});
  if (work.opcode == IBV_WR_SEND) messages_.emplace_back(segment.begin(), segment.end());
  if (work.opcode == IBV_WR_RDMA_READ) reads_.push_back(segment);
}

int ScriptedQueuePair::post_receive(const ibv_recv_wr* list) {
  const std::lock_guard lock(mutex_);
  for (; list != nullptr; list = list->next) {
    require(receives_.size() < max_receives_, "no more receives than the queue pair holds");
    const ibv_sge& segment = list->sg_list[0];
    receives_.push_back(
        {list->wr_id, {reinterpret_cast<std::byte*>(segment.addr), segment.length}});
  }
  return 0;
}

}  // namespace rdmablk::fuzz

// In place of libibverbs' own.
extern "C" {

using namespace rdmablk::fuzz;

const char* ibv_get_device_name(ibv_device* /*device*/) {
  return "scripted";
}

int ibv_query_device(ibv_context* /*context*/, ibv_device_attr* attributes) {
  *attributes = {};
  attributes->max_mr_size = UINT64_MAX;
  attributes->max_mr = 1 << 20;
  attributes->max_qp_wr = 1 << 14;
  attributes->max_cqe = 1 << 16;
  attributes->max_qp_rd_atom = 16;
  return 0;
}

#undef ibv_query_port
int ibv_query_port(ibv_context* /*context*/, std::uint8_t /*port*/, _compat_ibv_port_attr* into) {
  ibv_port_attr attributes{};
  attributes.max_msg_sz = 1U << 30U;
  std::memcpy(into, &attributes, sizeof attributes);
  return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  auto pd = std::make_unique<ibv_pd>();
  pd->context = context;
  return pd.release();
}
int ibv_dealloc_pd(ibv_pd* pd) {
  const std::unique_ptr<ibv_pd> owner(pd);
  return 0;
}

#undef ibv_reg_mr
ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, std::size_t length, int /*access*/) {
  auto mr = std::make_unique<ibv_mr>();
  *mr = {pd->context, pd, address, length, 0, next_key(), next_key()};
  return mr.release();
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, std::size_t length, std::uint64_t /*iova*/,
                         unsigned access) {
  return ibv_reg_mr(pd, address, length, static_cast<int>(access));
}
int ibv_dereg_mr(ibv_mr* mr) {
  const std::unique_ptr<ibv_mr> owner(mr);
  return 0;
}

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto channel = std::make_unique<ibv_comp_channel>();
  channel->context = context;
  channel->fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return channel.release();
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  ::close(channel->fd);
  const std::unique_ptr<ibv_comp_channel> owner(channel);
  return 0;
}
int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** context) {
  eventfd_t count = 0;
  *cq = nullptr;
  *context = nullptr;
  return ::eventfd_read(channel->fd, &count);
}
void ibv_ack_cq_events(ibv_cq* /*cq*/, unsigned /*count*/) {}

ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* /*cq_context*/,
                      ibv_comp_channel* channel, int /*vector*/) {
  auto queue = std::make_unique<CompletionQueue>();
  queue->handle.context = context;
  queue->handle.channel = channel;
  queue->handle.cqe = entries;
  queue->handle.cq_context = queue.get();
  return &queue.release()->handle;
}
int ibv_destroy_cq(ibv_cq* cq) {
  const std::unique_ptr<CompletionQueue> owner(&queue_of(cq));
  return 0;
}

ibv_qp* ibv_create_qp(ibv_pd* /*pd*/, ibv_qp_init_attr* attributes) {
  return std::make_unique<ScriptedQueuePair>(*attributes).release()->handle();
}
int ibv_query_qp(ibv_qp* /*qp*/, ibv_qp_attr* attributes, int /*mask*/,
                 ibv_qp_init_attr* /*initial*/) {
  attributes->qp_state = IBV_QPS_RTS;
  return 0;
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int /*mask*/) {
  if (attributes->qp_state == IBV_QPS_ERR) scripted(qp).flush();
  return 0;
}
int ibv_destroy_qp(ibv_qp* qp) {
  const std::unique_ptr<ScriptedQueuePair> owner(&scripted(qp));
  return 0;
}

}  // extern "C"
