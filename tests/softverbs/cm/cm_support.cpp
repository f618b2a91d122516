#include "tests/softverbs/cm/cm_support.h"

#include <arpa/inet.h>
#include <poll.h>

#include <cstring>
#include <stdexcept>
#include <system_error>

namespace softverbs::cm_test {
namespace {

constexpr int kPatienceMs = 10'000;

void require(bool condition, const char* what) {
  if (!condition) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

ChannelPtr make_channel() {
  ChannelPtr channel(rdma_create_event_channel());
  require(channel != nullptr, "rdma_create_event_channel");
  return channel;
}

IdPtr make_id(rdma_event_channel* channel, void* context, rdma_port_space port_space) {
  rdma_cm_id* id = nullptr;
  require(rdma_create_id(channel, &id, context, port_space) == 0, "rdma_create_id");
  return IdPtr(id);
}

sockaddr_storage address(const std::string& host, uint16_t port) {
  sockaddr_storage storage{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
  } else if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
  } else {
    throw std::invalid_argument(host);
  }
  return storage;
}

sockaddr* generic(sockaddr_storage& storage) {
  return reinterpret_cast<sockaddr*>(&storage);
}

bool has_event(const ChannelPtr& channel) {
  pollfd waiting{channel->fd, POLLIN, 0};
  return poll(&waiting, 1, 0) == 1;
}

void await_event(const ChannelPtr& channel) {
  pollfd waiting{channel->fd, POLLIN, 0};
  require(poll(&waiting, 1, kPatienceMs) == 1, "no event came");
}

EventPtr next_event(const ChannelPtr& channel) {
  pollfd waiting{channel->fd, POLLIN, 0};
  if (poll(&waiting, 1, kPatienceMs) != 1) {
    ADD_FAILURE() << "no event came";
    return nullptr;
  }
  rdma_cm_event* event = nullptr;
  require(rdma_get_cm_event(channel.get(), &event) == 0, "rdma_get_cm_event");
  return EventPtr(event);
}

EventPtr expect_event(const ChannelPtr& channel, rdma_cm_event_type type) {
  EventPtr event = next_event(channel);
  if (!event) throw std::runtime_error(std::string("waiting for ") + rdma_event_str(type));
  EXPECT_STREQ(rdma_event_str(event->event), rdma_event_str(type)) << "status " << event->status;
  return event;
}

IdPtr make_listener(const ChannelPtr& channel, const std::string& host, int backlog,
                    void* context) {
  IdPtr id = make_id(channel.get(), context);
  sockaddr_storage local = address(host);
  require(rdma_bind_addr(id.get(), generic(local)) == 0, "rdma_bind_addr");
  require(rdma_listen(id.get(), backlog) == 0, "rdma_listen");
  return id;
}

uint16_t port_of(const IdPtr& id) {
  return ntohs(rdma_get_src_port(id.get()));
}

IdPtr make_resolved(const ChannelPtr& channel, const std::string& host, uint16_t port,
                    void* context) {
  IdPtr id = make_id(channel.get(), context);
  sockaddr_storage remote = address(host, port);
  require(rdma_resolve_addr(id.get(), nullptr, generic(remote), 1000) == 0, "rdma_resolve_addr");
  expect_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
  require(rdma_resolve_route(id.get(), 1000) == 0, "rdma_resolve_route");
  expect_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
  return id;
}

void make_qp(rdma_cm_id* id) {
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap.max_send_wr = 4;
  attr.cap.max_recv_wr = 4;
  attr.cap.max_send_sge = 1;
  attr.cap.max_recv_sge = 1;
  attr.sq_sig_all = 1;
  require(rdma_create_qp(id, nullptr, &attr) == 0, "rdma_create_qp");
}

void Pair::request(const rdma_conn_param& parameter) {
  passive_channel = make_channel();
  active_channel = make_channel();
  listener = make_listener(passive_channel, "127.0.0.1");
  active = make_resolved(active_channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  rdma_conn_param copy = parameter;
  require(rdma_connect(active.get(), &copy) == 0, "rdma_connect");
  const EventPtr event = expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST);
  passive.reset(event->id);
}

void Pair::connect() {
  request(parameters());
  make_qp(passive.get());
  rdma_conn_param accepted = parameters();
  require(rdma_accept(passive.get(), &accepted) == 0, "rdma_accept");
  expect_event(active_channel, RDMA_CM_EVENT_ESTABLISHED);
  expect_event(passive_channel, RDMA_CM_EVENT_ESTABLISHED);
}

rdma_conn_param parameters(const std::vector<uint8_t>& private_data) {
  rdma_conn_param result{};
  result.responder_resources = 1;
  result.initiator_depth = 1;
  result.retry_count = 7;
  result.rnr_retry_count = 7;
  result.private_data = private_data.empty() ? nullptr : private_data.data();
  result.private_data_len = static_cast<uint8_t>(private_data.size());
  return result;
}

int connect_again(const IdPtr& id, const std::vector<uint8_t>& data) {
  rdma_conn_param parameter = parameters(data);
  return rdma_connect(id.get(), &parameter) == 0 ? 0 : errno;
}

int accept_with(const IdPtr& id, const std::vector<uint8_t>& data) {
  rdma_conn_param parameter = parameters(data);
  return rdma_accept(id.get(), &parameter) == 0 ? 0 : errno;
}

void expect_rejected(const ChannelPtr& channel, int status) {
  const EventPtr event = expect_event(channel, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(status, event->status);
  EXPECT_EQ(kRejectSize, event->param.conn.private_data_len);
}

std::vector<uint8_t> pattern(size_t size) {
  std::vector<uint8_t> bytes(size);
  for (size_t index = 0; index < size; ++index)
    bytes[index] = static_cast<uint8_t>(index % 255 + 1);
  return bytes;
}

std::vector<uint8_t> private_data(const EventPtr& event) {
  const auto* data = static_cast<const uint8_t*>(event->param.conn.private_data);
  if (data == nullptr) return {};
  return {data, data + event->param.conn.private_data_len};
}

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  require(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) == 0, "ibv_query_qp");
  return attr.qp_state;
}

}  // namespace softverbs::cm_test
