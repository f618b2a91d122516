// What the connection manager makes of devices that are removed and return, and of ports that are
// down.
#include <cerrno>
#include <set>
#include <string>

#include "tests/softverbs/cm/cm_support.h"
#include "tests/softverbs/faults/plan.h"

namespace softverbs::cm_test {
namespace {

using test::Plan;

std::set<std::string> device_names() {
  std::set<std::string> names;
  ibv_context** list = rdma_get_devices(nullptr);
  for (ibv_context** each = list; each != nullptr && *each != nullptr; ++each) {
    names.insert(ibv_get_device_name((*each)->device));
  }
  if (list != nullptr) rdma_free_devices(list);
  return names;
}

int bind_to(const IdPtr& id, const std::string& host) {
  sockaddr_storage local = address(host);
  return rdma_bind_addr(id.get(), generic(local)) == 0 ? 0 : errno;
}

/// A pair over soft1 from a listener on all addresses.
void connect_to_second(Pair& pair) {
  pair.passive_channel = make_channel();
  pair.active_channel = make_channel();
  pair.listener = make_listener(pair.passive_channel, "0.0.0.0");
  pair.active = make_resolved(pair.active_channel, "127.0.0.2", port_of(pair.listener));
  make_qp(pair.active.get());
  ASSERT_EQ(connect_again(pair.active), 0);
  pair.passive.reset(expect_event(pair.passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  make_qp(pair.passive.get());
  ASSERT_EQ(accept_with(pair.passive), 0);
  expect_event(pair.active_channel, RDMA_CM_EVENT_ESTABLISHED);
  expect_event(pair.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
}

TEST(CmDeviceRemoval, IsToldToTheIdsOfTheDevice) {
  const Plan plan;
  plan.run(2, [&] {
    Pair stays;
    stays.connect();
    Pair goes;
    connect_to_second(goes);
    const ChannelPtr channel = make_channel();
    const IdPtr listener = make_listener(channel, "127.0.0.2");
    plan.change("device-removal:device=soft1", "soft1 gone");
    EXPECT_EQ(goes.active.get(),
              expect_event(goes.active_channel, RDMA_CM_EVENT_DEVICE_REMOVAL)->id);
    EXPECT_EQ(goes.passive.get(),
              expect_event(goes.passive_channel, RDMA_CM_EVENT_DEVICE_REMOVAL)->id);
    EXPECT_EQ(listener.get(), expect_event(channel, RDMA_CM_EVENT_DEVICE_REMOVAL)->id);
    EXPECT_FALSE(has_event(stays.active_channel));
    EXPECT_FALSE(has_event(stays.passive_channel));
    EXPECT_FALSE(has_event(goes.passive_channel)) << "nothing more comes";
    EXPECT_EQ(-1, rdma_disconnect(goes.active.get()));
    EXPECT_EQ(-1, rdma_listen(listener.get(), 1));
    // What goes away then disturbs nobody.
    goes.active.reset();
    EXPECT_FALSE(has_event(goes.passive_channel));
    EXPECT_EQ(0, rdma_disconnect(stays.active.get()));
    expect_event(stays.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
  });
}

TEST(CmDeviceRemoval, ItsAddressesLeadNowhere) {
  const Plan plan;
  plan.run(2, [&] {
    const ChannelPtr channel = make_channel();
    EXPECT_EQ(device_names(), (std::set<std::string>{"soft0", "soft1"}));
    plan.change("device-removal:device=soft1", "soft1 gone");
    EXPECT_EQ(device_names(), std::set<std::string>{"soft0"});
    EXPECT_EQ(ENODEV, bind_to(make_id(channel.get()), "127.0.0.2"));
    EXPECT_EQ(0, bind_to(make_id(channel.get()), "127.0.0.1"));
    const IdPtr id = make_id(channel.get());
    sockaddr_storage remote = address("127.0.0.2", 1);
    ASSERT_EQ(0, rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000));
    EXPECT_EQ(-ENODEV, expect_event(channel, RDMA_CM_EVENT_ADDR_ERROR)->status);
    plan.change("device-removal", "soft0 gone");
    EXPECT_EQ(nullptr, rdma_get_devices(nullptr));
    EXPECT_EQ(ENODEV, errno);
  });
}

TEST(CmDeviceRemoval, AListenerOnAllAddressesServesADeviceThatReturns) {
  const Plan plan;
  plan.run(2, [&] {
    Pair before;
    connect_to_second(before);
    ibv_context* const dead = before.active->verbs;
    plan.change("device-removal:device=soft1", "soft1 gone");
    plan.change("", "soft1 back");
    EXPECT_EQ(device_names(), (std::set<std::string>{"soft0", "soft1"}));
    expect_event(before.passive_channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
    expect_event(before.active_channel, RDMA_CM_EVENT_DEVICE_REMOVAL);
    EXPECT_EQ(dead, before.active->verbs) << "it is there as long as the id";
    Pair after;
    after.active_channel = make_channel();
    after.active = make_resolved(after.active_channel, "127.0.0.2", port_of(before.listener));
    EXPECT_NE(dead, after.active->verbs);
    make_qp(after.active.get());
    ASSERT_EQ(connect_again(after.active), 0);
    after.passive.reset(expect_event(before.passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
    make_qp(after.passive.get());
    ASSERT_EQ(accept_with(after.passive), 0);
    expect_event(after.active_channel, RDMA_CM_EVENT_ESTABLISHED);
    expect_event(before.passive_channel, RDMA_CM_EVENT_ESTABLISHED);
  });
}

TEST(CmDeviceRemoval, AListKeepsItsContexts) {
  const Plan plan;
  plan.run(2, [&] {
    ibv_context** list = rdma_get_devices(nullptr);
    ASSERT_NE(nullptr, list);
    plan.change("device-removal:device=soft1", "soft1 gone");
    ibv_port_attr port{};
    EXPECT_EQ(EIO, ibv_query_port(list[1], 1, &port));
    rdma_free_devices(list);
  });
}

TEST(CmPortDown, ARequestIsLost) {
  for (const char* port : {"soft0", "soft1"}) {  // Of who asks, and of who is asked.
    const Plan plan;
    plan.run(2, [&] {
      const ChannelPtr passive_channel = make_channel();
      const ChannelPtr channel = make_channel();
      const IdPtr listener = make_listener(passive_channel, "127.0.0.2");
      const IdPtr id = make_id(channel.get());
      sockaddr_storage from = address("127.0.0.1");
      sockaddr_storage to = address("127.0.0.2", port_of(listener));
      ASSERT_EQ(0, rdma_resolve_addr(id.get(), generic(from), generic(to), 1000));
      expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
      ASSERT_EQ(0, rdma_resolve_route(id.get(), 1000));
      expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
      make_qp(id.get());
      plan.change(std::string("cm-timeout=300,port-down:device=") + port,
                  std::string(port) + " down");
      ASSERT_EQ(0, connect_again(id));
      EXPECT_EQ(-ETIMEDOUT, expect_event(channel, RDMA_CM_EVENT_UNREACHABLE)->status);
      EXPECT_FALSE(has_event(passive_channel));
    });
  }
}

TEST(CmPortDown, AFarewellIsLost) {
  const Plan plan;
  plan.run(2, [&] {
    Pair pair;
    connect_to_second(pair);
    plan.change("port-down:device=soft1", "soft1 down");
    ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
    pair.active.reset();
    // Orders are carried out one after the other: it is lost by now, and what had come would be
    // there.
    Pair first;
    first.connect();
    plan.change("", "soft1 up");
    Pair second;
    second.connect();
    EXPECT_FALSE(has_event(pair.passive_channel));
  });
}

}  // namespace
}  // namespace softverbs::cm_test
