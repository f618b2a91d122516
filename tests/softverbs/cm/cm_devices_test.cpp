// Two devices: which one an address leads to.

#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

// Before the library reads it.
[[maybe_unused]] const int kEnvironment = setenv("SOFTVERBS_DEVICES", "2", 1);

std::string device_of(const IdPtr& id) {
  return id->verbs == nullptr ? "none" : ibv_get_device_name(id->verbs->device);
}

std::string bound_to(const std::string& host) {
  const ChannelPtr channel = make_channel();
  return device_of(make_listener(channel, host));
}

TEST(Devices, AnAddressBelongsToOne) {
  EXPECT_EQ("soft0", bound_to("127.0.0.1"));
  EXPECT_EQ("soft1", bound_to("127.0.0.2"));
  EXPECT_EQ("soft0", bound_to("::1"));
  EXPECT_EQ("soft1", bound_to("::ffff:127.0.0.2"));
  EXPECT_EQ("none", bound_to("0.0.0.0"));
}

TEST(Devices, ADestinationIsReachedFromItsOwn) {
  const ChannelPtr channel = make_channel();
  for (const auto& [host, device] : {std::pair("127.0.0.1", "soft0"),
                                     {"127.0.0.2", "soft1"},
                                     {"::1", "soft0"},
                                     {"::ffff:127.0.0.2", "soft1"}}) {
    EXPECT_EQ(device, device_of(make_resolved(channel, host, 1))) << host;
  }
}

// Whether bound or given when the destination is resolved.
TEST(Devices, ASourceChoosesIts) {
  const ChannelPtr channel = make_channel();
  for (const bool bind_first : {false, true}) {
    const IdPtr id = make_id(channel.get());
    sockaddr_storage source = address("127.0.0.2");
    sockaddr_storage destination = address("127.0.0.1", 1);
    if (bind_first) {
      ASSERT_EQ(0, rdma_bind_addr(id.get(), generic(source)));
      EXPECT_EQ("soft1", device_of(id));
    }
    ASSERT_EQ(0, rdma_resolve_addr(id.get(), bind_first ? nullptr : generic(source),
                                   generic(destination), 1000));
    expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ("soft1", device_of(id));
  }
}

/// Connects `source` to `destination`, whose listener is bound to `listening`; returns the devices
/// of both ends, and expects that a message arrives.
std::string connect_devices(const std::string& listening, const std::string& source,
                            const std::string& destination) {
  Pair pair;
  pair.passive_channel = make_channel();
  pair.active_channel = make_channel();
  pair.listener = make_listener(pair.passive_channel, listening);
  pair.active = make_id(pair.active_channel.get());
  sockaddr_storage from = address(source);
  sockaddr_storage to = address(destination, port_of(pair.listener));
  EXPECT_EQ(0, rdma_resolve_addr(pair.active.get(), generic(from), generic(to), 1000));
  expect_event(pair.active_channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(0, rdma_resolve_route(pair.active.get(), 1000));
  expect_event(pair.active_channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  make_qp(pair.active.get());
  rdma_conn_param parameter = parameters();
  EXPECT_EQ(0, rdma_connect(pair.active.get(), &parameter));
  pair.passive.reset(expect_event(pair.passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  make_qp(pair.passive.get());
  EXPECT_EQ(0, accept_with(pair.passive));
  expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  expect_event(pair.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(0, ibv_post_recv(pair.passive->qp, &receive, &bad_receive));
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  ibv_send_wr* bad_send = nullptr;
  EXPECT_EQ(0, ibv_post_send(pair.active->qp, &send, &bad_send));
  ibv_wc completion{};
  while (ibv_poll_cq(pair.active->send_cq, 1, &completion) == 0) {
  }
  EXPECT_EQ(IBV_WC_SUCCESS, completion.status);
  return device_of(pair.active) + " " + device_of(pair.passive);
}

TEST(Devices, AreConnectedWithOneAnother) {
  EXPECT_EQ("soft0 soft1", connect_devices("127.0.0.2", "127.0.0.1", "127.0.0.2"));
  EXPECT_EQ("soft1 soft0", connect_devices("0.0.0.0", "127.0.0.2", "127.0.0.1"));
  EXPECT_EQ("soft1 soft1", connect_devices("0.0.0.0", "127.0.0.2", "127.0.0.2"));
  EXPECT_EQ("soft0 soft0", connect_devices("::", "::1", "::1"));
  EXPECT_EQ("soft1 soft1", connect_devices("127.0.0.2", "::ffff:127.0.0.2", "::ffff:127.0.0.2"));
}

// The GID that packets come from is the address's, and of RoCE v2, as the kernel chooses.
TEST(Devices, TheGidIsTheAddresses) {
  Pair pair;
  pair.connect();
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(0, ibv_query_qp(pair.active->qp, &attr, IBV_QP_AV, &init));
  ibv_gid_entry entry{};
  ASSERT_EQ(0, ibv_query_gid_ex(pair.active->verbs, 1, attr.ah_attr.grh.sgid_index, &entry, 0));
  EXPECT_EQ(IBV_GID_TYPE_ROCE_V2, entry.gid_type);
  EXPECT_EQ(0xffff, entry.gid.raw[10] << 8U | entry.gid.raw[11]);
  EXPECT_EQ(1, entry.gid.raw[15]);
  EXPECT_EQ(0, memcmp(&entry.gid, &pair.active->route.addr.addr.ibaddr.sgid, sizeof(ibv_gid)));
}

}  // namespace
}  // namespace softverbs::cm_test
