// Synchronous ids: calls wait and leave the event in the id.

#include <cerrno>
#include <future>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

struct DestroyEndpoint {
  void operator()(rdma_cm_id* id) const { rdma_destroy_ep(id); }
};
using EndpointPtr = std::unique_ptr<rdma_cm_id, DestroyEndpoint>;

ibv_qp_init_attr small_queues() {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap.max_send_wr = 2;
  attr.cap.max_recv_wr = 2;
  attr.cap.max_send_sge = 1;
  attr.cap.max_recv_sge = 1;
  return attr;
}

EndpointPtr make_endpoint(uint16_t port, int flags) {
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  hints.ai_flags = flags;
  rdma_addrinfo* found = nullptr;
  const std::string service = std::to_string(port);
  EXPECT_EQ(0, rdma_getaddrinfo("127.0.0.1", service.c_str(), &hints, &found));
  ibv_qp_init_attr attr = small_queues();
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(0, rdma_create_ep(&id, found, nullptr, &attr)) << errno;
  rdma_freeaddrinfo(found);
  return EndpointPtr(id);
}

uint16_t port_of_endpoint(const EndpointPtr& id) {
  return ntohs(rdma_get_src_port(id.get()));
}

TEST(Endpoint, ConnectsAndDisconnects) {
  const EndpointPtr listener = make_endpoint(0, RAI_PASSIVE);
  EXPECT_EQ(nullptr, listener->qp);
  ASSERT_EQ(0, rdma_listen(listener.get(), 1));
  auto server = std::async(std::launch::async, [&] {
    rdma_cm_id* raw = nullptr;
    EXPECT_EQ(0, rdma_get_request(listener.get(), &raw));
    EndpointPtr id(raw);
    EXPECT_EQ(RDMA_CM_EVENT_CONNECT_REQUEST, id->event->event);
    EXPECT_NE(nullptr, id->qp) << "made from the listener's attributes";
    EXPECT_EQ(0, rdma_accept(id.get(), nullptr));
    EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, id->event->event);
    EXPECT_EQ(0, rdma_disconnect(id.get()));
    EXPECT_EQ(RDMA_CM_EVENT_DISCONNECTED, id->event->event);
  });
  const EndpointPtr client = make_endpoint(port_of_endpoint(listener), 0);
  ASSERT_NE(nullptr, client->qp);
  ASSERT_EQ(0, rdma_connect(client.get(), nullptr));
  EXPECT_EQ(RDMA_CM_EVENT_ESTABLISHED, client->event->event);
  EXPECT_EQ(0, rdma_disconnect(client.get()));
  EXPECT_EQ(RDMA_CM_EVENT_DISCONNECTED, client->event->event);
  server.get();
}

TEST(Endpoint, RefusalIsAnErrno) {
  EndpointPtr listener = make_endpoint(0, RAI_PASSIVE);
  const uint16_t port = port_of_endpoint(listener);
  listener.reset();
  const EndpointPtr client = make_endpoint(port, 0);
  EXPECT_EQ(-1, rdma_connect(client.get(), nullptr));
  EXPECT_EQ(ECONNREFUSED, errno);
  EXPECT_EQ(RDMA_CM_EVENT_REJECTED, client->event->event);
}

TEST(Endpoint, UnreachableAddressIsAnErrno) {
  const IdPtr id = make_id(nullptr);
  sockaddr_storage remote = address("198.51.100.7", 7471);
  EXPECT_EQ(-1, rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000));
  EXPECT_TRUE(errno == EHOSTUNREACH || errno == ENETUNREACH) << errno;
  EXPECT_EQ(RDMA_CM_EVENT_ADDR_ERROR, id->event->event);
}

TEST(Endpoint, GetRequestIsForSynchronousListeners) {
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(channel, "127.0.0.1");
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(-1, rdma_get_request(listener.get(), &id));
  EXPECT_EQ(EINVAL, errno);
}

}  // namespace
}  // namespace softverbs::cm_test
