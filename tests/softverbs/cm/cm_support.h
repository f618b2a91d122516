#pragma once

#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include <memory>
#include <string>
#include <vector>

/// What the tests of the connection manager share: owners for the C objects and events that are
/// waited for, never slept for.
namespace softverbs::cm_test {

struct DestroyChannel {
  void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};
struct DestroyId {
  void operator()(rdma_cm_id* id) const {
    if (id->qp != nullptr) rdma_destroy_qp(id);
    rdma_destroy_id(id);
  }
};
struct AckEvent {
  void operator()(rdma_cm_event* event) const { rdma_ack_cm_event(event); }
};
using ChannelPtr = std::unique_ptr<rdma_event_channel, DestroyChannel>;
using IdPtr = std::unique_ptr<rdma_cm_id, DestroyId>;
using EventPtr = std::unique_ptr<rdma_cm_event, AckEvent>;

/// Creates a channel; a failure ends the test.
ChannelPtr make_channel();
/// Creates an id on `channel` (null: a synchronous one).
IdPtr make_id(rdma_event_channel* channel, void* context = nullptr,
              rdma_port_space port_space = RDMA_PS_TCP);

/// An IPv4 or IPv6 address with a port.
sockaddr_storage address(const std::string& host, uint16_t port = 0);
/// The same for functions that want it so.
sockaddr* generic(sockaddr_storage& storage);

/// Waits for the next event, ten seconds at most; null and a failure after that.
EventPtr next_event(const ChannelPtr& channel);
/// The next event, which must be of this type.
EventPtr expect_event(const ChannelPtr& channel, rdma_cm_event_type type);
/// Waits until an event can be read, without reading it.
void await_event(const ChannelPtr& channel);
/// Whether an event is waiting at this moment.
bool has_event(const ChannelPtr& channel);

/// Binds to `host` (port 0 chooses one) and listens.
/// @return the id; its port is port_of(id).
IdPtr make_listener(const ChannelPtr& channel, const std::string& host, int backlog = 0,
                    void* context = nullptr);
uint16_t port_of(const IdPtr& id);

/// An id that has resolved address and route to host:port.
IdPtr make_resolved(const ChannelPtr& channel, const std::string& host, uint16_t port,
                    void* context = nullptr);
/// A queue pair with small queues, as rdma_create_qp makes it.
void make_qp(rdma_cm_id* id);

/// Private data of a REJ, in bytes.
constexpr size_t kRejectSize = 148;
/// Reasons of a REJ (InfiniBand specification, 12.6.7).
constexpr int kTimeout = 4;
constexpr int kInvalidServiceId = 8;
constexpr int kConsumerDefined = 28;

/// rdma_connect and rdma_accept with `parameters(data)`. \return 0 or the errno.
int connect_again(const IdPtr& id, const std::vector<uint8_t>& data = {});
int accept_with(const IdPtr& id, const std::vector<uint8_t>& data = {});
/// The next event must be a rejection for this reason.
void expect_rejected(const ChannelPtr& channel, int status);

/// Two ends of one connection in this process, each with its own channel.
struct Pair {
  ChannelPtr passive_channel;
  ChannelPtr active_channel;
  IdPtr listener;
  IdPtr passive;
  IdPtr active;

  /// Listens, resolves and connects; leaves the request in `passive`.
  void request(const rdma_conn_param& parameter);
  /// request(), rdma_accept and ESTABLISHED on both sides.
  void connect();
};

/// Parameters with one READ in each direction and the given private data.
rdma_conn_param parameters(const std::vector<uint8_t>& private_data = {});

/// Bytes that differ from each other and from zero.
std::vector<uint8_t> pattern(size_t size);

/// The private data of an event.
std::vector<uint8_t> private_data(const EventPtr& event);

ibv_qp_state state_of(ibv_qp* qp);

}  // namespace softverbs::cm_test
