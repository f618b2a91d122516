#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace softverbs::test {

struct Closer {
  void operator()(ibv_context* object) const { ibv_close_device(object); }
  void operator()(ibv_pd* object) const { ibv_dealloc_pd(object); }
  void operator()(ibv_mr* object) const { ibv_dereg_mr(object); }
  void operator()(ibv_cq* object) const { ibv_destroy_cq(object); }
  void operator()(ibv_qp* object) const { ibv_destroy_qp(object); }
  void operator()(ibv_comp_channel* object) const { ibv_destroy_comp_channel(object); }
};
template <typename Object>
using Owned = std::unique_ptr<Object, Closer>;

constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
                           IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

/// Opens a device, the first one if not told otherwise.
Owned<ibv_context> open_device(int index = 0);

/// Memory and its registration.
struct Buffer {
  Buffer(ibv_pd* pd, size_t size, int access = kAllAccess);
  std::vector<char> memory;
  Owned<ibv_mr> region;

  [[nodiscard]] uint64_t address() const { return reinterpret_cast<uint64_t>(memory.data()); }
  [[nodiscard]] ibv_sge sge(size_t offset, size_t length) const;
  [[nodiscard]] ibv_sge sge() const { return sge(0, memory.size()); }
};

/// What the two ends of a connection tell each other.
struct Address {
  uint32_t qpn = 0;
  uint32_t psn = 0;
  ibv_gid gid{};
  uint64_t memory = 0;
  uint32_t rkey = 0;
};

struct Limits {
  uint32_t send_wr = 16;
  uint32_t receive_wr = 16;
  uint32_t sge = 4;
  uint32_t inline_data = 64;
  int cqe = 64;
};

struct Connection {
  unsigned access = kAllAccess;
  uint8_t rnr_retry = 7;
  uint8_t min_rnr_timer = 1;
  uint8_t timeout = 10;
  uint8_t retry_count = 7;
  uint8_t sgid_index = 0;
  ibv_mtu path_mtu = IBV_MTU_1024;
};

/// One end: a completion channel, a completion queue and a queue pair in a protection domain.
class Endpoint {
 public:
  explicit Endpoint(ibv_context* context, const Limits& limits = {});
  Endpoint(ibv_context* context, ibv_pd* pd, const Limits& limits);

  ibv_context* context;
  Owned<ibv_pd> own_pd;
  ibv_pd* pd;
  Owned<ibv_comp_channel> channel;
  Owned<ibv_cq> cq;
  Owned<ibv_qp> qp;
  uint32_t psn;

  [[nodiscard]] Address address(const Buffer* buffer = nullptr, int gid_index = 0) const;
  int to_init(const Connection& connection = {}) const;
  int to_rtr(const Address& peer, const Connection& connection = {}) const;
  int to_rts(const Connection& connection = {}) const;
  void connect(const Address& peer, const Connection& connection = {}) const;
  int to_state(ibv_qp_state state) const;
  [[nodiscard]] ibv_qp_state state() const;

  int post(ibv_send_wr request) const;
  int receive(const ibv_sge& sge, uint64_t id = 0) const;
  int receive(std::vector<ibv_sge> sges, uint64_t id = 0) const;

  /// Waits for the next completion. Fails the test after a long time.
  ibv_wc wait() const;
  /// The next completion that is there now; status -1 when there is none.
  [[nodiscard]] bool poll(ibv_wc& completion) const;
};

/// Requests, signalled.
ibv_send_wr write_request(ibv_sge* sge, uint64_t remote, uint32_t rkey, uint64_t id = 0);
ibv_send_wr read_request(ibv_sge* sge, uint64_t remote, uint32_t rkey, uint64_t id = 0);
ibv_send_wr send_request(ibv_sge* sge, uint64_t id = 0);

/// Two connected ends in this process.
struct Pair {
  explicit Pair(ibv_context* context, const Connection& connection = {}, const Limits& limits = {});
  Endpoint a;
  Endpoint b;
};

/// Takes the next asynchronous event, acknowledges it and returns its type; waits for it.
ibv_event_type next_event(ibv_context* context);

}  // namespace softverbs::test
