#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/softverbs/verbs/device.h"
#include "common/softverbs/verbs/message.h"
#include "common/softverbs/verbs/peer.h"
#include "common/softverbs/verbs/requester.h"
#include "common/softverbs/verbs/responder.h"
#include "common/softverbs/verbs/shared_table.h"

namespace softverbs {

class Connection;
class Process;

/// What `ibv_create_qp` hands out: a reliable connected queue pair. Its sending half (Requester)
/// and its receiving half (Responder) have a lock each; the send lock is taken before the receive
/// lock, and attributes and state change under both. The state that counts is the one in the
/// published slot, where the peer reads it.
class QueuePair : public ibv_qp {
 public:
  QueuePair(ibv_pd* pd, const ibv_qp_init_attr& init);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;
  ~QueuePair();

  static QueuePair* from(ibv_qp* qp) { return static_cast<QueuePair*>(qp); }

  // ibv_post_send(3), ibv_post_recv(3), ibv_modify_qp(3), ibv_query_qp(3).
  int post_send(ibv_send_wr* request, ibv_send_wr** bad);
  int post_receive(ibv_recv_wr* request, ibv_recv_wr** bad);
  int modify(const ibv_qp_attr& attributes, int mask);
  /// The same for the connection manager. On iWARP it alone makes connections.
  int modify_for_connection(const ibv_qp_attr& attributes, int mask);
  /// It is the end that asked for its connection.
  void note_asked() { asked_.store(true); }
  void query(ibv_qp_attr& attributes, ibv_qp_init_attr& init);

  /// Takes the queue pair out of the published table and waits until nothing that it or its peer
  /// started can still touch memory.
  void disconnect();
  /// Waits until copies that were under way at the call are over.
  void wait_for_copies();
  /// Drops what the completion queues and the event queue hold of it, and waits until the
  /// asynchronous events that were delivered are acknowledged.
  void withdraw();

  // For the service thread, under the registry's lock.
  void on_request(Connection& connection, const Message& request, const char* payload);
  void on_reply(const Message& reply, const char* payload);
  void on_timer();
  void on_writable(const Peer& peer);
  void on_peer_death(const Peer& peer);
  /// Nothing that is under way will ever complete.
  void on_device_removal();

  // For the two halves.
  Process& process() { return process_; }
  QueuePairSlot& slot() { return slot_; }
  [[nodiscard]] ibv_qp_state state() const { return static_cast<ibv_qp_state>(slot_.state.load()); }
  [[nodiscard]] const ibv_qp_attr& attributes() const { return attributes_; }
  [[nodiscard]] const ibv_qp_cap& capabilities() const { return capabilities_; }
  [[nodiscard]] bool port_is_down() const {
    return device_.port_down.load(std::memory_order_relaxed);
  }
  /// What its requests are addressed to; see port_name().
  [[nodiscard]] uint32_t dest_port() const { return dest_port_; }
  [[nodiscard]] bool has_asked() const { return asked_.load(); }
  [[nodiscard]] bool signals_all() const { return signals_all_; }
  [[nodiscard]] const std::shared_ptr<Peer>& peer() const { return peer_; }
  void complete_send(uint64_t position, const SendRequest& request, ibv_wc_status status);
  void complete_receive(const Completion& completion, bool solicited);
  void report(ibv_event_type type);
  /// To the error state, with everything outstanding flushed. The caller holds the send lock and
  /// not the receive lock.
  void enter_error_holding_send();
  /// Likewise, for a caller that holds neither.
  void enter_error();

  std::atomic<uint32_t> async_delivered{0};

 private:
  void apply(const ibv_qp_attr& attributes, int mask);
  void apply_path();
  /// Its process is another one, or its device is gone.
  [[nodiscard]] bool dead() const;
  void forget_requests();
  void change_state(ibv_qp_state from, ibv_qp_state to);
  int check(const ibv_qp_attr& attributes, int mask) const;
  void resume();
  void check_drained();
  void after_progress();

  Process& process_;
  const Device& device_;
  const uint32_t index_;
  QueuePairSlot& slot_;
  ibv_qp_attr attributes_{};
  ibv_qp_cap capabilities_;
  bool signals_all_;
  uint32_t dest_port_ = 0;
  std::shared_ptr<Peer> peer_;
  bool established_ = false;          ///< Something arrived on this connection.
  std::atomic<bool> asked_{false};    ///< See note_asked().
  bool notify_drained_ = false;       ///< IBV_EVENT_SQ_DRAINED is wanted.
  std::atomic<bool> overrun_{false};  ///< A completion was lost; the queue pair has to fail.
  std::mutex send_mutex_;
  std::mutex receive_mutex_;
  Requester requester_;
  Responder responder_;
};

}  // namespace softverbs
