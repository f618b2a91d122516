#include "tests/softverbs/verbs/endpoint.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <stdexcept>
#include <thread>

namespace softverbs::test {
namespace {

constexpr auto kPatience = std::chrono::seconds(60);
constexpr int kEventPatienceMs = 60'000;

template <typename Object>
Object* checked(Object* object, const char* what) {
  if (object == nullptr) throw std::runtime_error(std::string(what) + ": " + strerror(errno));
  return object;
}

ibv_qp* make_queue_pair(ibv_pd* pd, ibv_cq* cq, const Limits& limits) {
  ibv_qp_init_attr init{};
  init.send_cq = cq;
  init.recv_cq = cq;
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr = limits.send_wr;
  init.cap.max_recv_wr = limits.receive_wr;
  init.cap.max_send_sge = limits.sge;
  init.cap.max_recv_sge = limits.sge;
  init.cap.max_inline_data = limits.inline_data;
  return checked(ibv_create_qp(pd, &init), "ibv_create_qp");
}

ibv_send_wr request(ibv_sge* sge, ibv_wr_opcode opcode, uint64_t id) {
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.sg_list = sge;
  wr.num_sge = sge == nullptr ? 0 : 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  return wr;
}

}  // namespace

Owned<ibv_context> open_device(int index) {
  int count = 0;
  ibv_device** list = checked(ibv_get_device_list(&count), "ibv_get_device_list");
  ibv_context* context = index >= count ? nullptr : ibv_open_device(list[index]);
  ibv_free_device_list(list);
  return Owned<ibv_context>(checked(context, "ibv_open_device"));
}

Buffer::Buffer(ibv_pd* pd, size_t size, int access)
    : memory(size), region(checked(ibv_reg_mr(pd, memory.data(), size, access), "ibv_reg_mr")) {}

ibv_sge Buffer::sge(size_t offset, size_t length) const {
  return {address() + offset, static_cast<uint32_t>(length), region->lkey};
}

Endpoint::Endpoint(ibv_context* context_of, const Limits& limits)
    : Endpoint(context_of, nullptr, limits) {}

Endpoint::Endpoint(ibv_context* context_of, ibv_pd* pd_of, const Limits& limits)
    : context(context_of),
      own_pd(pd_of == nullptr ? checked(ibv_alloc_pd(context), "ibv_alloc_pd") : nullptr),
      pd(pd_of == nullptr ? own_pd.get() : pd_of),
      channel(checked(ibv_create_comp_channel(context), "ibv_create_comp_channel")),
      cq(checked(ibv_create_cq(context, limits.cqe, this, channel.get(), 0), "ibv_create_cq")),
      qp(make_queue_pair(pd, cq.get(), limits)),
      psn((qp->qp_num * 7919) & 0xffffff) {}

Address Endpoint::address(const Buffer* buffer, int gid_index) const {
  Address address;
  address.qpn = qp->qp_num;
  address.psn = psn;
  ibv_query_gid(context, 1, gid_index, &address.gid);
  if (buffer != nullptr) {
    address.memory = buffer->address();
    address.rkey = buffer->region->rkey;
  }
  return address;
}

int Endpoint::to_init(const Connection& connection) const {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  attr.qp_access_flags = connection.access;
  return ibv_modify_qp(qp.get(), &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int Endpoint::to_rtr(const Address& peer, const Connection& connection) const {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = connection.path_mtu;
  attr.dest_qp_num = peer.qpn;
  attr.rq_psn = peer.psn;
  attr.max_dest_rd_atomic = 16;
  attr.min_rnr_timer = connection.min_rnr_timer;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid = peer.gid;
  attr.ah_attr.grh.hop_limit = 64;
  attr.ah_attr.grh.sgid_index = connection.sgid_index;
  attr.ah_attr.port_num = 1;
  return ibv_modify_qp(qp.get(), &attr,
                       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int Endpoint::to_rts(const Connection& connection) const {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = connection.timeout;
  attr.retry_cnt = connection.retry_count;
  attr.rnr_retry = connection.rnr_retry;
  attr.sq_psn = psn;
  attr.max_rd_atomic = 16;
  return ibv_modify_qp(qp.get(), &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

void Endpoint::connect(const Address& peer, const Connection& connection) const {
  ASSERT_EQ(to_init(connection), 0);
  ASSERT_EQ(to_rtr(peer, connection), 0);
  ASSERT_EQ(to_rts(connection), 0);
}

int Endpoint::to_state(ibv_qp_state state_to) const {
  ibv_qp_attr attr{};
  attr.qp_state = state_to;
  return ibv_modify_qp(qp.get(), &attr, IBV_QP_STATE);
}

ibv_qp_state Endpoint::state() const {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  EXPECT_EQ(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0);
  return attr.qp_state;
}

int Endpoint::post(ibv_send_wr wr) const {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp.get(), &wr, &bad);
}

int Endpoint::receive(const ibv_sge& sge, uint64_t id) const {
  return receive(std::vector<ibv_sge>{sge}, id);
}

int Endpoint::receive(std::vector<ibv_sge> sges, uint64_t id) const {
  ibv_recv_wr wr{};
  wr.wr_id = id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(qp.get(), &wr, &bad);
}

ibv_wc Endpoint::wait() const {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  ibv_wc completion{};
  while (!poll(completion)) {
    if (std::chrono::steady_clock::now() > until) {
      ADD_FAILURE() << "no completion came";
      completion.status = IBV_WC_GENERAL_ERR;
      break;
    }
    std::this_thread::yield();
  }
  return completion;
}

bool Endpoint::poll(ibv_wc& completion) const {
  return ibv_poll_cq(cq.get(), 1, &completion) == 1;
}

ibv_send_wr write_request(ibv_sge* sge, uint64_t remote, uint32_t rkey, uint64_t id) {
  ibv_send_wr wr = request(sge, IBV_WR_RDMA_WRITE, id);
  wr.wr.rdma.remote_addr = remote;
  wr.wr.rdma.rkey = rkey;
  return wr;
}

ibv_send_wr read_request(ibv_sge* sge, uint64_t remote, uint32_t rkey, uint64_t id) {
  ibv_send_wr wr = write_request(sge, remote, rkey, id);
  wr.opcode = IBV_WR_RDMA_READ;
  return wr;
}

ibv_send_wr send_request(ibv_sge* sge, uint64_t id) {
  return request(sge, IBV_WR_SEND, id);
}

Pair::Pair(ibv_context* context, const Connection& connection, const Limits& limits)
    : a(context, limits), b(context, limits) {
  a.connect(b.address(), connection);
  b.connect(a.address(), connection);
}

ibv_event_type next_event(ibv_context* context) {
  pollfd entry{context->async_fd, POLLIN, 0};
  if (poll(&entry, 1, kEventPatienceMs) != 1) {
    ADD_FAILURE() << "no event came";
    return IBV_EVENT_CLIENT_REREGISTER;
  }
  ibv_async_event event{};
  EXPECT_EQ(ibv_get_async_event(context, &event), 0);
  ibv_ack_async_event(&event);
  return event.event_type;
}

}  // namespace softverbs::test
