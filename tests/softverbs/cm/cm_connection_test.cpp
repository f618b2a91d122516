// The handshake: order of events, private data, refusals.

#include <algorithm>
#include <cerrno>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

constexpr size_t kRequestSize = 56;
constexpr size_t kReplySize = 196;

std::vector<uint8_t> padded(std::vector<uint8_t> bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

TEST(Connect, RequestShowsTheNewIdAndTheListener) {
  int mark = 0;
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr active_channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "0.0.0.0", 0, &mark);
  const IdPtr active = make_resolved(active_channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  rdma_conn_param parameter = parameters();
  parameter.responder_resources = 3;
  parameter.initiator_depth = 5;
  parameter.rnr_retry_count = 6;
  parameter.retry_count = 4;
  ASSERT_EQ(0, rdma_connect(active.get(), &parameter));
  const EventPtr event = expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  const IdPtr passive(event->id);
  EXPECT_EQ(listener.get(), event->listen_id);
  EXPECT_EQ(&mark, passive->context);
  EXPECT_EQ(passive_channel.get(), passive->channel);
  EXPECT_NE(nullptr, passive->verbs);
  EXPECT_EQ(nullptr, passive->qp);
  EXPECT_EQ(RDMA_PS_TCP, passive->ps);
  // Each side speaks of itself, so what one end responds to is what the other initiates.
  EXPECT_EQ(5, event->param.conn.responder_resources);
  EXPECT_EQ(3, event->param.conn.initiator_depth);
  EXPECT_EQ(6, event->param.conn.rnr_retry_count);
  EXPECT_EQ(4, event->param.conn.retry_count);
  EXPECT_EQ(active->qp->qp_num, event->param.conn.qp_num);
}

TEST(Connect, EstablishedOnBothSidesWhenTheActiveOneHasReadItsEvent) {
  Pair pair;
  pair.request(parameters());
  make_qp(pair.passive.get());
  EXPECT_EQ(IBV_QPS_INIT, state_of(pair.passive->qp));
  ASSERT_EQ(0, accept_with(pair.passive));
  EXPECT_EQ(IBV_QPS_RTS, state_of(pair.passive->qp));
  EXPECT_EQ(IBV_QPS_INIT, state_of(pair.active->qp)) << "it moves when its event is read";
  EXPECT_FALSE(has_event(pair.passive_channel));
  const EventPtr active = expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(pair.active.get(), active->id);
  EXPECT_EQ(kReplySize, active->param.conn.private_data_len);
  EXPECT_EQ(pair.passive->qp->qp_num, active->param.conn.qp_num);
  EXPECT_EQ(IBV_QPS_RTS, state_of(pair.active->qp));
  const EventPtr passive = expect_event(pair.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(pair.passive.get(), passive->id);
  EXPECT_EQ(0, passive->param.conn.private_data_len);
}

class PrivateData : public testing::TestWithParam<size_t> {};

TEST_P(PrivateData, EveryRequestSizeArrivesPadded) {
  const std::vector<uint8_t> sent = pattern(GetParam());
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr active_channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  const IdPtr active = make_resolved(active_channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  ASSERT_EQ(0, connect_again(active, sent));
  const EventPtr request = expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  const IdPtr passive(request->id);
  EXPECT_EQ(padded(sent, kRequestSize), private_data(request));
}

INSTANTIATE_TEST_SUITE_P(Request, PrivateData, testing::Range(size_t{0}, kRequestSize + 1));

TEST(PrivateDataLimits, TooLongARequestIsInvalidAndMayBeRepeatedShorter) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr active_channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  const IdPtr active = make_resolved(active_channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  EXPECT_EQ(EINVAL, connect_again(active, pattern(kRequestSize + 1)));
  EXPECT_EQ(0, connect_again(active, pattern(kRequestSize)));
  const IdPtr passive(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
}

TEST(PrivateDataLimits, ReplyArrivesPadded) {
  Pair pair;
  pair.request(parameters());
  make_qp(pair.passive.get());
  ASSERT_EQ(0, accept_with(pair.passive, pattern(kReplySize)));
  EXPECT_EQ(pattern(kReplySize),
            private_data(expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED)));
}

TEST(PrivateDataLimits, TooLongAReplyIsInvalidAndRejectsThePeer) {
  Pair pair;
  pair.request(parameters());
  make_qp(pair.passive.get());
  EXPECT_EQ(EINVAL, accept_with(pair.passive, pattern(kReplySize + 1)));
  EXPECT_EQ(IBV_QPS_ERR, state_of(pair.passive->qp));
  expect_rejected(pair.active_channel, kConsumerDefined);
}

TEST(Reject, CarriesItsDataAndStopsTheQueuePair) {
  Pair pair;
  pair.request(parameters());
  const std::vector<uint8_t> reason = pattern(20);
  ASSERT_EQ(0, rdma_reject(pair.passive.get(), reason.data(), static_cast<uint8_t>(reason.size())));
  const EventPtr event = expect_event(pair.active_channel, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(kConsumerDefined, event->status);
  EXPECT_EQ(padded(reason, kRejectSize), private_data(event));
  EXPECT_EQ(IBV_QPS_ERR, state_of(pair.active->qp));
  EXPECT_EQ(EINVAL, connect_again(pair.active)) << "an id connects once";
  EXPECT_EQ(-1, rdma_reject(pair.passive.get(), nullptr, 0));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(EINVAL, accept_with(pair.passive));
}

TEST(Reject, TooMuchDataIsInvalidAndChangesNothing) {
  Pair pair;
  pair.request(parameters());
  const std::vector<uint8_t> reason = pattern(kRejectSize + 1);
  EXPECT_EQ(-1, rdma_reject(pair.passive.get(), reason.data(), kRejectSize + 1));
  EXPECT_EQ(EINVAL, errno);
  make_qp(pair.passive.get());
  EXPECT_EQ(0, accept_with(pair.passive));
  expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
}

TEST(Connect, PortWithoutListenerIsAnInvalidService) {
  const ChannelPtr channel = make_channel();
  const IdPtr bound = make_id(channel.get());
  sockaddr_storage local = address("127.0.0.1");
  ASSERT_EQ(0, rdma_bind_addr(bound.get(), generic(local)));
  const IdPtr active = make_resolved(channel, "127.0.0.1", port_of(bound));
  make_qp(active.get());
  ASSERT_EQ(0, connect_again(active));
  expect_rejected(channel, kInvalidServiceId);
}

TEST(Connect, SpecificListenerHearsItsAddressAlone) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.2");
  const IdPtr wrong = make_resolved(channel, "127.0.0.1", port_of(listener));
  make_qp(wrong.get());
  ASSERT_EQ(0, connect_again(wrong));
  expect_rejected(channel, kInvalidServiceId);
  const IdPtr right = make_resolved(channel, "127.0.0.2", port_of(listener));
  make_qp(right.get());
  ASSERT_EQ(0, connect_again(right));
  const IdPtr passive(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
}

TEST(Connect, WildcardHearsBothFamilies) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "::");
  for (const char* host : {"127.0.0.1", "::1"}) {
    const IdPtr active = make_resolved(channel, host, port_of(listener));
    make_qp(active.get());
    ASSERT_EQ(0, connect_again(active));
    const IdPtr passive(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
    EXPECT_EQ(address(host).ss_family, passive->route.addr.src_addr.sa_family);
  }
}

TEST(Connect, ResourcesBeyondTheDeviceAreInvalid) {
  const ChannelPtr channel = make_channel();
  const IdPtr active = make_resolved(channel, "127.0.0.1", 7471);
  ibv_device_attr limits{};
  ASSERT_EQ(0, ibv_query_device(active->verbs, &limits));
  if (limits.max_qp_rd_atom >= 254) GTEST_SKIP() << "the device takes all that the field can say";
  make_qp(active.get());
  rdma_conn_param parameter = parameters();
  parameter.responder_resources = static_cast<uint8_t>(limits.max_qp_rd_atom + 1);
  EXPECT_EQ(-1, rdma_connect(active.get(), &parameter));
  EXPECT_EQ(EINVAL, errno);
}

TEST(Connect, WithoutQueuePairOrParametersIsInvalid) {
  const ChannelPtr channel = make_channel();
  const IdPtr active = make_resolved(channel, "127.0.0.1", 7471);
  EXPECT_EQ(-1, rdma_connect(active.get(), nullptr));
  EXPECT_EQ(EINVAL, errno);
  EXPECT_EQ(EINVAL, connect_again(make_id(channel.get())));
}

TEST(Connect, DefaultsAreTheDevicesLimits) {
  Pair pair;
  rdma_conn_param all{};
  all.responder_resources = RDMA_MAX_RESP_RES;
  all.initiator_depth = RDMA_MAX_INIT_DEPTH;
  pair.request(all);
  make_qp(pair.passive.get());
  ASSERT_EQ(0, rdma_accept(pair.passive.get(), nullptr));
  ibv_device_attr limits{};
  ASSERT_EQ(0, ibv_query_device(pair.active->verbs, &limits));
  const EventPtr event = expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(std::min(limits.max_qp_rd_atom, 255), event->param.conn.responder_resources);
  EXPECT_EQ(std::min(limits.max_qp_init_rd_atom, 255), event->param.conn.initiator_depth);
}

TEST(Listener, BacklogCountsUnreadRequests) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.1", 1);
  const IdPtr first = make_resolved(channel, "127.0.0.1", port_of(listener));
  const IdPtr second = make_resolved(channel, "127.0.0.1", port_of(listener));
  make_qp(first.get());
  make_qp(second.get());
  ASSERT_EQ(0, connect_again(first));
  ASSERT_EQ(0, connect_again(second));
  const EventPtr refused = expect_event(channel, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(second.get(), refused->id);
  EXPECT_EQ(kConsumerDefined, refused->status);
  const IdPtr passive(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  const IdPtr third = make_resolved(channel, "127.0.0.1", port_of(listener));
  make_qp(third.get());
  ASSERT_EQ(0, connect_again(third));
  const IdPtr another(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
}

TEST(Listener, DestroyedWithAnUnreadRequestRejectsIt) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  const IdPtr active = make_resolved(channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  ASSERT_EQ(0, connect_again(active));
  await_event(passive_channel);
  listener.reset();
  expect_rejected(channel, kConsumerDefined);
  EXPECT_FALSE(has_event(passive_channel));
}

TEST(Listener, RequestsOutliveTheirListenerOnceRead) {
  Pair pair;
  pair.request(parameters());
  pair.listener.reset();
  make_qp(pair.passive.get());
  ASSERT_EQ(0, accept_with(pair.passive));
  expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  expect_event(pair.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
}

TEST(Listener, RequestsAreAnsweredInAnyOrder) {
  constexpr size_t kCount = 5;
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  std::vector<IdPtr> actives;
  std::vector<IdPtr> passives;
  for (size_t index = 0; index < kCount; ++index) {
    actives.push_back(make_resolved(channel, "127.0.0.1", port_of(listener)));
    make_qp(actives.back().get());
    ASSERT_EQ(0, connect_again(actives.back()));
    passives.emplace_back(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
    make_qp(passives.back().get());
  }
  for (size_t index = kCount; index-- > 0;) {
    if (index == 2) {
      ASSERT_EQ(0, rdma_reject(passives[index].get(), nullptr, 0));
      EXPECT_EQ(actives[index].get(), expect_event(channel, RDMA_CM_EVENT_REJECTED)->id);
      continue;
    }
    ASSERT_EQ(0, accept_with(passives[index]));
    EXPECT_EQ(actives[index].get(), expect_event(channel, RDMA_CM_EVENT_ESTABLISHED)->id);
    EXPECT_EQ(passives[index].get(), expect_event(passive_channel, RDMA_CM_EVENT_ESTABLISHED)->id);
  }
}

TEST(Listener, TwoHundredConnectionsAtOnce) {
  constexpr size_t kCount = 200;
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "0.0.0.0");
  std::vector<IdPtr> actives;
  for (size_t index = 0; index < kCount; ++index) {
    actives.push_back(make_resolved(channel, "127.0.0.1", port_of(listener)));
    make_qp(actives.back().get());
  }
  for (const IdPtr& id : actives) ASSERT_EQ(0, connect_again(id));
  std::vector<IdPtr> passives;
  for (size_t index = 0; index < kCount; ++index) {
    passives.emplace_back(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  }
  for (const IdPtr& id : passives) {
    make_qp(id.get());
    ASSERT_EQ(0, accept_with(id));
  }
  for (size_t index = 0; index < kCount; ++index) {
    expect_event(channel, RDMA_CM_EVENT_ESTABLISHED);
    expect_event(passive_channel, RDMA_CM_EVENT_ESTABLISHED);
  }
  for (const IdPtr& id : actives) ASSERT_EQ(0, rdma_disconnect(id.get()));
  for (size_t index = 0; index < kCount; ++index) {
    const EventPtr event = expect_event(passive_channel, RDMA_CM_EVENT_DISCONNECTED);
    ASSERT_EQ(0, rdma_disconnect(event->id));
  }
}

TEST(EnhancedConnection, IsNotOffered) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_id(channel.get());
  ibv_ece ece{};
  ece.vendor_id = 1;
  EXPECT_EQ(-1, rdma_set_local_ece(id.get(), &ece));
  EXPECT_EQ(EOPNOTSUPP, errno);
  EXPECT_EQ(0, rdma_get_remote_ece(id.get(), &ece));
  EXPECT_EQ(0U, ece.vendor_id);
  EXPECT_EQ(-1, rdma_join_multicast(id.get(), nullptr, nullptr));
  EXPECT_EQ(ENOSYS, errno);
}

}  // namespace
}  // namespace softverbs::cm_test
