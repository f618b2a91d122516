// Devices that are removed and return, and ports that go down and come up, while they are in use.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <set>
#include <string>

#include "tests/softverbs/faults/plan.h"
#include "tests/softverbs/faults/with_faults.h"
#include "tests/softverbs/verbs/child_process.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

using Clock = std::chrono::steady_clock;

std::set<std::string> device_names() {
  std::set<std::string> names;
  ibv_device** list = ibv_get_device_list(nullptr);
  for (ibv_device** each = list; *each != nullptr; ++each) names.insert(ibv_get_device_name(*each));
  ibv_free_device_list(list);
  return names;
}

ibv_device* device_at(int index) {
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_device* device = list[index];
  ibv_free_device_list(list);
  return device;
}

ibv_wc_status write(const Endpoint& from, const Buffer& local, const Buffer& remote) {
  ibv_sge sge = local.sge();
  EXPECT_EQ(from.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  return from.wait().status;
}

TEST(DeviceRemoval, EndsEverythingOfThatDevice) {
  const Plan plan;
  plan.run(2, [&] {
    Owned<ibv_context> stays = open_device(0);
    Owned<ibv_context> goes = open_device(1);
    ibv_device* const device = goes->device;
    Pair pair(goes.get());
    Buffer buffer(pair.a.pd, 64);
    ASSERT_EQ(pair.a.receive(buffer.sge()), 0);
    plan.change("device-removal:device=soft1", "soft1 gone");

    EXPECT_EQ(next_event(goes.get()), IBV_EVENT_DEVICE_FATAL);
    ibv_async_event event{};
    EXPECT_EQ(ibv_get_async_event(goes.get(), &event), -1);
    EXPECT_EQ(errno, EIO);
    ibv_cq* queue = nullptr;
    void* user = nullptr;
    EXPECT_EQ(ibv_get_cq_event(pair.a.channel.get(), &queue, &user), -1);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(device_names(), std::set<std::string>{"soft0"});

    EXPECT_EQ(pair.a.post(send_request(nullptr)), EIO);
    EXPECT_EQ(pair.a.receive(buffer.sge()), EIO);
    EXPECT_EQ(pair.a.to_state(IBV_QPS_ERR), EIO);
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(pair.a.qp.get(), &attr, IBV_QP_STATE, &init), EIO);
    EXPECT_EQ(ibv_req_notify_cq(pair.a.cq.get(), 0), EIO);
    ibv_wc completion{};
    EXPECT_FALSE(pair.a.poll(completion)) << "nothing is flushed: there is nobody to do it";
    ibv_device_attr limits{};
    EXPECT_EQ(ibv_query_device(goes.get(), &limits), EIO);
    ibv_port_attr port{};
    EXPECT_EQ(ibv_query_port(goes.get(), 1, &port), EIO);
    EXPECT_EQ(ibv_alloc_pd(goes.get()), nullptr);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(ibv_create_cq(goes.get(), 1, nullptr, nullptr, 0), nullptr);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(ibv_create_comp_channel(goes.get()), nullptr);
    EXPECT_EQ(errno, EIO);
    errno = 0;
    EXPECT_EQ(ibv_reg_mr(pair.a.pd, &attr, sizeof attr, 0), nullptr);
    EXPECT_EQ(errno, EIO);
    init.send_cq = init.recv_cq = pair.a.cq.get();
    init.qp_type = IBV_QPT_RC;
    EXPECT_EQ(ibv_create_qp(pair.a.pd, &init), nullptr);
    EXPECT_EQ(errno, EIO);
    EXPECT_EQ(ibv_open_device(device), nullptr);
    EXPECT_EQ(errno, ENODEV);

    // What is there can be cleared away.
    EXPECT_EQ(ibv_destroy_qp(pair.a.qp.release()), 0);
    EXPECT_EQ(ibv_destroy_cq(pair.a.cq.release()), 0);
    EXPECT_EQ(ibv_destroy_comp_channel(pair.a.channel.release()), 0);
    EXPECT_EQ(ibv_dereg_mr(buffer.region.release()), 0);
    EXPECT_EQ(ibv_dealloc_pd(pair.a.own_pd.release()), 0);
  });
}

TEST(DeviceRemoval, LeavesOtherDevicesAlone) {
  const Plan plan;
  plan.run(2, [&] {
    Owned<ibv_context> stays = open_device(0);
    Owned<ibv_context> goes = open_device(1);
    const Pair other(stays.get());
    const Buffer local(other.a.pd, 64);
    const Buffer remote(other.b.pd, 64);
    const Endpoint a(stays.get());
    const Endpoint b(goes.get());
    a.connect(b.address());
    b.connect(a.address());
    const Buffer from(a.pd, 64);
    const Buffer to(b.pd, 64);
    EXPECT_EQ(write(a, from, to), IBV_WC_SUCCESS);
    plan.change("device-removal:device=soft1", "soft1 gone");
    EXPECT_EQ(write(other.a, local, remote), IBV_WC_SUCCESS);
    EXPECT_EQ(write(a, from, to), IBV_WC_RETRY_EXC_ERR);
  });
}

TEST(DeviceRemoval, ADeviceReturnsAsAnother) {
  const Plan plan;
  plan.run(2, [&] {
    Owned<ibv_context> before = open_device(1);
    ibv_device* const device = before->device;
    const int index = ibv_get_device_index(device);
    plan.change("device-removal:device=soft1", "soft1 gone");
    plan.change("", "soft1 back");
    EXPECT_EQ(device_names(), (std::set<std::string>{"soft0", "soft1"}));
    EXPECT_NE(device_at(1), device);
    EXPECT_NE(ibv_get_device_index(device_at(1)), index);
    EXPECT_EQ(ibv_get_device_guid(device_at(1)), ibv_get_device_guid(device));
    ibv_port_attr port{};
    EXPECT_EQ(ibv_query_port(before.get(), 1, &port), EIO) << "what was opened before stays dead";
    EXPECT_EQ(ibv_close_device(before.release()), 0);
    Owned<ibv_context> after = open_device(1);
    Pair pair(after.get());
    const Buffer local(pair.a.pd, 64);
    const Buffer remote(pair.b.pd, 64);
    EXPECT_EQ(write(pair.a, local, remote), IBV_WC_SUCCESS);
    plan.change("device-removal", "soft0 gone");
    EXPECT_EQ(next_event(after.get()), IBV_EVENT_DEVICE_FATAL);
    EXPECT_EQ(device_names(), std::set<std::string>{});
  });
}

TEST(DeviceRemoval, IsThereFromTheBeginningWithoutAFile) {
  with_faults("device-removal:device=soft0,device-removal:device=soft2:program=other", [] {
    setenv("SOFTVERBS_DEVICES", "3", 1);
    EXPECT_EQ(device_names(), (std::set<std::string>{"soft1", "soft2"}));
  });
  with_faults(std::string("device-removal:program=") + program_invocation_short_name,
              [] { EXPECT_EQ(device_names(), std::set<std::string>{}); });
}

TEST(DeviceRemoval, IsSeenByWhoHasOpenedNothing) {
  const Plan plan;
  plan.run(1, [&] {
    EXPECT_EQ(device_names().size(), 1U);
    plan.set("device-removal");
    EXPECT_EQ(device_names().size(), 0U);
    plan.set("");
    EXPECT_EQ(device_names().size(), 1U);
  });
}

TEST(PortDown, IsToldAndSeen) {
  const Plan plan;
  plan.run(2, [&] {
    Owned<ibv_context> other = open_device(0);
    Owned<ibv_context> context = open_device(1);
    plan.change("port-down:device=soft1", "soft1 down");
    EXPECT_EQ(next_event(context.get()), IBV_EVENT_PORT_ERR);
    ibv_port_attr port{};
    ASSERT_EQ(ibv_query_port(context.get(), 1, &port), 0);
    EXPECT_EQ(port.state, IBV_PORT_DOWN);
    ASSERT_EQ(ibv_query_port(other.get(), 1, &port), 0);
    EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
    plan.change("", "soft1 up");
    EXPECT_EQ(next_event(context.get()), IBV_EVENT_PORT_ACTIVE);
    ASSERT_EQ(ibv_query_port(context.get(), 1, &port), 0);
    EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  });
}

/// Two connected ends on soft0 and soft1, with time for `retry_count` retries.
struct Ends {
  explicit Ends(uint8_t timeout, uint8_t retry_count = 1) {
    Connection connection;
    connection.timeout = timeout;
    connection.retry_count = retry_count;
    a.connect(b.address(), connection);
    b.connect(a.address(), connection);
  }
  Owned<ibv_context> first = open_device(0);
  Owned<ibv_context> second = open_device(1);
  Endpoint a{first.get()};
  Endpoint b{second.get()};
  Buffer at_a{a.pd, 64};
  Buffer at_b{b.pd, 64};
};

TEST(PortDown, RequestsEndWhenTheirTimeIsOver) {
  for (const char* port : {"soft0", "soft1"}) {  // The requester's, and the responder's.
    const Plan plan;
    plan.run(2, [&] {
      const Ends ends(14, 2);  // Three times 67 ms.
      EXPECT_EQ(write(ends.a, ends.at_a, ends.at_b), IBV_WC_SUCCESS);
      plan.change(std::string("port-down:device=") + port, std::string(port) + " down");
      const auto begin = Clock::now();
      EXPECT_EQ(write(ends.a, ends.at_a, ends.at_b), IBV_WC_RETRY_EXC_ERR) << port;
      EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(150)) << port;
    });
  }
}

TEST(PortDown, MessagesEndToo) {
  for (const char* port : {"soft0", "soft1"}) {
    const Plan plan;
    plan.run(2, [&] {
      const Ends ends(12);
      ASSERT_EQ(ends.b.receive(ends.at_b.sge()), 0);
      plan.change(std::string("port-down:device=") + port, std::string(port) + " down");
      ASSERT_EQ(ends.a.post(send_request(nullptr)), 0);
      EXPECT_EQ(ends.a.wait().status, IBV_WC_RETRY_EXC_ERR) << port;
      ibv_wc completion{};
      EXPECT_FALSE(ends.b.poll(completion)) << port;
    });
  }
}

TEST(PortDown, WhatWasPostedGoesOutWhenItIsUpInTime) {
  for (const char* port : {"soft0", "soft1"}) {
    const Plan plan;
    plan.run(2, [&] {
      Ends ends(24, 7);  // Nine minutes.
      ends.at_a.memory[0] = 'x';
      ASSERT_EQ(ends.b.receive(ends.at_b.sge(32, 32)), 0);
      plan.change(std::string("port-down:device=") + port, std::string(port) + " down");
      ibv_sge sge = ends.at_a.sge(0, 1);
      ASSERT_EQ(ends.a.post(write_request(&sge, ends.at_b.address(), ends.at_b.region->rkey, 1)),
                0);
      ASSERT_EQ(ends.a.post(send_request(&sge, 2)), 0);
      ibv_wc completion{};
      EXPECT_FALSE(ends.a.poll(completion));
      EXPECT_EQ(ends.at_b.memory[0], 0);
      plan.change("", std::string(port) + " up");
      EXPECT_EQ(ends.a.wait().status, IBV_WC_SUCCESS);
      const ibv_wc second = ends.a.wait();
      EXPECT_EQ(second.wr_id, 2U);
      EXPECT_EQ(second.status, IBV_WC_SUCCESS);
      EXPECT_EQ(ends.b.wait().status, IBV_WC_SUCCESS);
      EXPECT_EQ(ends.at_b.memory[0], 'x');
      EXPECT_EQ(ends.at_b.memory[32], 'x');
    });
  }
}

/// What another process, which knows nothing of the plan, gets from a WRITE and a READ when
/// `items` have been carried out here.
void expect_peer_fails(const std::string& items, const std::string& told) {
  const Plan plan;
  plan.run(2, [&] {
    ChildProcess peer([](Wire& wire) {
      unsetenv("SOFTVERBS_FAULTS");
      Owned<ibv_context> context = open_device(1);
      Pair dummy(context.get());
      const Endpoint end(context.get());
      const Buffer local(end.pd, 64);
      wire.send(end.address());
      const auto remote = wire.receive<Address>();
      Connection connection;
      connection.timeout = 10;
      connection.retry_count = 1;
      end.connect(remote, connection);
      ibv_sge sge = local.sge();
      EXPECT_EQ(end.post(write_request(&sge, remote.memory, remote.rkey)), 0);
      EXPECT_EQ(end.wait().status, IBV_WC_SUCCESS);
      wire.send(1);
      wire.receive<int>();
      EXPECT_EQ(end.post(read_request(&sge, remote.memory, remote.rkey)), 0);
      EXPECT_EQ(end.wait().status, IBV_WC_RETRY_EXC_ERR);
      const Buffer other(dummy.b.pd, 64);
      sge = other.sge();
      EXPECT_EQ(dummy.b.post(write_request(&sge, other.address(), other.region->rkey)), 0);
      EXPECT_NE(dummy.b.wait().status, IBV_WC_RETRY_EXC_ERR) << "its own device works";
    });
    Owned<ibv_context> context = open_device(1);
    const Endpoint end(context.get());
    const Buffer buffer(end.pd, 64);
    end.connect(peer.wire().receive<Address>());
    peer.wire().send(end.address(&buffer));
    peer.wire().receive<int>();
    plan.change(items, told);
    peer.wire().send(1);
    EXPECT_EQ(peer.join(), 0);
  });
}

TEST(PortDown, ConcernsTheProcessThatReadsThePlan) {
  expect_peer_fails("port-down:device=soft1", "soft1 down");
}

TEST(DeviceRemoval, ConcernsTheProcessThatReadsThePlan) {
  expect_peer_fails("device-removal:device=soft1", "soft1 gone");
}

}  // namespace
}  // namespace softverbs::test
