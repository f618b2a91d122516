// How the handshake differs on the iWARP kind of the device, and which of several devices an
// address belongs to: both are said in the environment, before the first use.

#include <cerrno>
#include <cstdlib>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

TEST(Iwarp, DeviceSaysSo) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", 7471);
  EXPECT_EQ(IBV_TRANSPORT_IWARP, id->verbs->device->transport_type);
}

TEST(Iwarp, PrivateDataKeepsItsLength) {
  Pair pair;
  pair.passive_channel = make_channel();
  pair.active_channel = make_channel();
  pair.listener = make_listener(pair.passive_channel, "127.0.0.1");
  pair.active = make_resolved(pair.active_channel, "127.0.0.1", port_of(pair.listener));
  make_qp(pair.active.get());
  const std::vector<uint8_t> sent = pattern(200);
  rdma_conn_param parameter = parameters(sent);
  ASSERT_EQ(0, rdma_connect(pair.active.get(), &parameter));
  const EventPtr request = expect_event(pair.passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  pair.passive.reset(request->id);
  EXPECT_EQ(sent, private_data(request));
  make_qp(pair.passive.get());
  parameter = parameters();
  ASSERT_EQ(0, rdma_accept(pair.passive.get(), &parameter));
  const EventPtr established = expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(0, established->param.conn.private_data_len);
  expect_event(pair.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
}

TEST(Iwarp, RefusalsAreErrnoValues) {
  const ChannelPtr channel = make_channel();
  const IdPtr nobody = make_resolved(channel, "127.0.0.1", 1);
  make_qp(nobody.get());
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_connect(nobody.get(), &parameter));
  EXPECT_EQ(-ECONNREFUSED, expect_event(channel, RDMA_CM_EVENT_REJECTED)->status);

  Pair pair;
  pair.request(parameters());
  const std::vector<uint8_t> reason = pattern(3);
  ASSERT_EQ(0, rdma_reject(pair.passive.get(), reason.data(), 3));
  const EventPtr rejected = expect_event(pair.active_channel, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(-ECONNREFUSED, rejected->status);
  EXPECT_EQ(reason, private_data(rejected));
}

TEST(Iwarp, UnansweredRequestOfADeadListenerIsReset) {
  Pair pair;
  pair.request(parameters());
  pair.passive.reset();
  EXPECT_EQ(-ECONNRESET, expect_event(pair.active_channel, RDMA_CM_EVENT_REJECTED)->status);
}

TEST(Iwarp, AcceptFindsOutThatThePeerIsGone) {
  Pair pair;
  pair.request(parameters());
  pair.active.reset();
  make_resolved(pair.active_channel, "127.0.0.1", 7471);  // the end has been seen by then
  make_qp(pair.passive.get());
  rdma_conn_param parameter = parameters();
  EXPECT_EQ(-1, rdma_accept(pair.passive.get(), &parameter));
  EXPECT_EQ(ECONNRESET, errno);
  EXPECT_FALSE(has_event(pair.passive_channel));
}

TEST(Iwarp, DisconnectNeedsNoAnswerAndHasNoTimewait) {
  Pair pair;
  pair.connect();
  ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
  expect_event(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED);
  expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
}

TEST(Devices, LastByteOfTheAddressChooses) {
  int count = 0;
  ibv_context** list = rdma_get_devices(&count);
  ASSERT_EQ(3, count);
  const ChannelPtr channel = make_channel();
  EXPECT_EQ(list[0], make_listener(channel, "127.0.0.1")->verbs);
  EXPECT_EQ(list[0], make_listener(channel, "::1")->verbs);
  EXPECT_EQ(list[1], make_listener(channel, "127.0.0.2")->verbs);
  EXPECT_EQ(list[2], make_listener(channel, "127.0.0.3")->verbs);
  EXPECT_EQ(list[0], make_listener(channel, "127.0.0.4")->verbs);
  rdma_free_devices(list);
}

TEST(Devices, WildcardListenerGivesTheRequestItsDevice) {
  int count = 0;
  ibv_context** list = rdma_get_devices(&count);
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "0.0.0.0");
  const IdPtr active = make_resolved(channel, "127.0.0.2", port_of(listener));
  make_qp(active.get());
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_connect(active.get(), &parameter));
  const IdPtr passive(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  EXPECT_EQ(list[1], passive->verbs);
  rdma_free_devices(list);
}

TEST(Devices, QueuePairBelongsToTheDeviceOfItsId) {
  const ChannelPtr channel = make_channel();
  const IdPtr first = make_resolved(channel, "127.0.0.1", 7471);
  const IdPtr other = make_listener(channel, "127.0.0.2");
  ibv_pd* pd = ibv_alloc_pd(other->verbs);
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 1,
              .max_recv_wr = 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  EXPECT_EQ(-1, rdma_create_qp(first.get(), pd, &attr));
  EXPECT_EQ(EINVAL, errno);
  ibv_dealloc_pd(pd);
}

}  // namespace
}  // namespace softverbs::cm_test

int main(int argc, char** argv) {
  setenv("SOFTVERBS_KIND", "iwarp", 1);
  setenv("SOFTVERBS_DEVICES", "3", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
