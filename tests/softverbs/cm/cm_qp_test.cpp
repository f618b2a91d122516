// Queue pairs of ids: those the library makes and moves, and those of the user.

#include <cerrno>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

struct DeallocPd {
  void operator()(ibv_pd* pd) const { ibv_dealloc_pd(pd); }
};
struct DestroyCq {
  void operator()(ibv_cq* cq) const { ibv_destroy_cq(cq); }
};
struct DestroyQp {
  void operator()(ibv_qp* qp) const { ibv_destroy_qp(qp); }
};
using PdPtr = std::unique_ptr<ibv_pd, DeallocPd>;
using CqPtr = std::unique_ptr<ibv_cq, DestroyCq>;
using QpPtr = std::unique_ptr<ibv_qp, DestroyQp>;

ibv_qp_init_attr small_queues() {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap.max_send_wr = 4;
  attr.cap.max_recv_wr = 4;
  attr.cap.max_send_sge = 1;
  attr.cap.max_recv_sge = 1;
  return attr;
}

TEST(CreateQp, MakesCompletionQueuesThatAreMissing) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", 7471);
  ibv_qp_init_attr attr = small_queues();
  ASSERT_EQ(0, rdma_create_qp(id.get(), nullptr, &attr));
  EXPECT_EQ(IBV_QPS_INIT, state_of(id->qp));
  EXPECT_NE(nullptr, id->pd);
  EXPECT_EQ(id->pd, id->qp->pd);
  EXPECT_EQ(id->send_cq, attr.send_cq);
  EXPECT_EQ(id->recv_cq, attr.recv_cq);
  EXPECT_EQ(id->send_cq_channel, id->send_cq->channel);
  EXPECT_EQ(id.get(), id->recv_cq->cq_context);
  EXPECT_GE(attr.cap.max_send_wr, 4U);
  EXPECT_EQ(-1, rdma_create_qp(id.get(), nullptr, &attr)) << "an id has one queue pair";
  EXPECT_EQ(EINVAL, errno);
  rdma_destroy_qp(id.get());
  EXPECT_EQ(nullptr, id->qp);
  EXPECT_EQ(nullptr, id->send_cq);
  EXPECT_EQ(nullptr, id->recv_cq_channel);
}

TEST(CreateQp, UsesWhatTheCallerBrings) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", 7471);
  const PdPtr pd(ibv_alloc_pd(id->verbs));
  const CqPtr cq(ibv_create_cq(id->verbs, 8, nullptr, nullptr, 0));
  ibv_qp_init_attr attr = small_queues();
  attr.send_cq = cq.get();
  attr.recv_cq = cq.get();
  ASSERT_EQ(0, rdma_create_qp(id.get(), pd.get(), &attr));
  EXPECT_EQ(pd.get(), id->qp->pd);
  EXPECT_EQ(nullptr, id->send_cq);
  EXPECT_EQ(cq.get(), id->qp->send_cq);
  rdma_destroy_qp(id.get());
}

TEST(CreateQp, DefaultPdIsSharedByTheDevice) {
  const ChannelPtr channel = make_channel();
  const IdPtr first = make_resolved(channel, "127.0.0.1", 7471);
  const IdPtr second = make_resolved(channel, "127.0.0.1", 7471);
  make_qp(first.get());
  make_qp(second.get());
  EXPECT_EQ(first->pd, second->pd);
}

TEST(CreateQp, NeedsADevice) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  ibv_qp_init_attr attr = small_queues();
  EXPECT_EQ(-1, rdma_create_qp(id.get(), nullptr, &attr));
  EXPECT_EQ(EINVAL, errno);
}

void move_by_hand(const IdPtr& id, ibv_qp* qp) {
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    ibv_qp_attr attr{};
    int mask = 0;
    attr.qp_state = state;
    ASSERT_EQ(0, rdma_init_qp_attr(id.get(), &attr, &mask)) << state;
    ASSERT_EQ(0, ibv_modify_qp(qp, &attr, mask)) << state;
  }
}

QpPtr make_own_qp(const CqPtr& cq, const PdPtr& pd) {
  ibv_qp_init_attr attr = small_queues();
  attr.send_cq = cq.get();
  attr.recv_cq = cq.get();
  return QpPtr(ibv_create_qp(pd.get(), &attr));
}

TEST(UserQp, GoesThroughConnectResponseAndEstablish) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  const IdPtr active = make_resolved(channel, "127.0.0.1", port_of(listener));
  const PdPtr pd(ibv_alloc_pd(active->verbs));
  const CqPtr cq(ibv_create_cq(active->verbs, 16, nullptr, nullptr, 0));
  const QpPtr active_qp = make_own_qp(cq, pd);
  rdma_conn_param parameter = parameters();
  parameter.qp_num = active_qp->qp_num;
  ASSERT_EQ(0, rdma_connect(active.get(), &parameter));

  const EventPtr request = expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(active_qp->qp_num, request->param.conn.qp_num);
  const IdPtr passive(request->id);
  const QpPtr passive_qp = make_own_qp(cq, pd);
  move_by_hand(passive, passive_qp.get());
  parameter.qp_num = passive_qp->qp_num;
  ASSERT_EQ(0, rdma_accept(passive.get(), &parameter));

  const EventPtr response = expect_event(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(passive_qp->qp_num, response->param.conn.qp_num);
  EXPECT_FALSE(has_event(passive_channel));
  move_by_hand(active, active_qp.get());
  EXPECT_EQ(IBV_QPS_RTS, state_of(active_qp.get()));
  ASSERT_EQ(0, rdma_establish(active.get()));
  expect_event(passive_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(-1, rdma_establish(active.get()));
  EXPECT_EQ(EINVAL, errno);
  ASSERT_EQ(0, rdma_disconnect(active.get()));
  expect_event(passive_channel, RDMA_CM_EVENT_DISCONNECTED);
}

TEST(UserQp, EstablishIsNotForQueuePairsOfTheLibrary) {
  Pair pair;
  pair.connect();
  EXPECT_EQ(-1, rdma_establish(pair.active.get()));
  EXPECT_EQ(EINVAL, errno);
}

TEST(UserQp, AttributesFollowTheHandshake) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", 7471);
  ibv_qp_attr attr{};
  int mask = 0;
  attr.qp_state = IBV_QPS_INIT;
  EXPECT_EQ(0, rdma_init_qp_attr(id.get(), &attr, &mask));
  EXPECT_EQ(0U, attr.qp_access_flags);
  attr.qp_state = IBV_QPS_RTR;
  EXPECT_EQ(-1, rdma_init_qp_attr(id.get(), &attr, &mask));
  EXPECT_EQ(EINVAL, errno);

  Pair pair;
  rdma_conn_param parameter = parameters();
  parameter.initiator_depth = 2;
  parameter.retry_count = 3;
  parameter.rnr_retry_count = 5;
  pair.request(parameter);
  attr.qp_state = IBV_QPS_INIT;
  ASSERT_EQ(0, rdma_init_qp_attr(pair.passive.get(), &attr, &mask));
  EXPECT_EQ(unsigned{IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC},
            attr.qp_access_flags);
  attr.qp_state = IBV_QPS_RTR;
  ASSERT_EQ(0, rdma_init_qp_attr(pair.passive.get(), &attr, &mask));
  EXPECT_EQ(pair.active->qp->qp_num, attr.dest_qp_num);
  EXPECT_EQ(2, attr.max_dest_rd_atomic);
  EXPECT_EQ(1, attr.ah_attr.is_global);
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(0, rdma_init_qp_attr(pair.passive.get(), &attr, &mask));
  EXPECT_EQ(5, attr.rnr_retry) << "the receiver of a request is told how often to retry";
  EXPECT_EQ(3, attr.retry_cnt);
}

TEST(Notify, EstablishesThePassiveSideEarly) {
  Pair pair;
  pair.request(parameters());
  EXPECT_EQ(-1, rdma_notify(pair.passive.get(), IBV_EVENT_COMM_EST));
  EXPECT_EQ(EINVAL, errno);
  make_qp(pair.passive.get());
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_accept(pair.passive.get(), &parameter));
  ASSERT_EQ(0, rdma_notify(pair.passive.get(), IBV_EVENT_COMM_EST));
  expect_event(pair.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(-1, rdma_notify(pair.passive.get(), IBV_EVENT_COMM_EST));
  EXPECT_EQ(EISCONN, errno);
  expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_FALSE(has_event(pair.passive_channel));
}

}  // namespace
}  // namespace softverbs::cm_test
