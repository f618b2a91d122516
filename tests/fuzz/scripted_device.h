#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

/// A device without a fabric: stands in for libibverbs in what links it. What its queue pairs
/// receive, and how their sends end, the one who drives it says. Any thread.
namespace rdmablk::fuzz {

class ScriptedQueuePair;

/// The only device. Its context works with the functions of libibverbs that the project calls.
ibv_context* scripted_context();

/// The queue pair behind a handle.
ScriptedQueuePair& scripted(ibv_qp* qp);

/// One end of a connection, seen from the other end.
class ScriptedQueuePair {
 public:
  explicit ScriptedQueuePair(const ibv_qp_init_attr& attributes);

  /// Sends it a message.
  /// @return false when it has posted no receive for it: its peer broke the credits, or it did.
  bool deliver(std::span<const std::byte> message);

  /// Sends it an immediate value, with the length of data that went elsewhere.
  bool deliver_immediate(std::uint32_t length);

  /// Completes the oldest signalled send that is under way, and with it those before it.
  /// @param status an error: of the oldest send, signalled or not.
  /// @return false when there is none.
  bool complete_send(ibv_wc_status status = IBV_WC_SUCCESS);

  /// Calls `handler` when messages have been sent, on the thread that sends. Before the first.
  void on_sent(std::function<void()> handler) { on_sent_ = std::move(handler); }

  /// The messages that it has sent since the last call, in their order.
  std::vector<std::vector<std::byte>> take_sent();

  /// Where the READs that were posted since the last call put what they read.
  std::vector<std::span<std::byte>> take_reads();

  /// Ends all that is under way with a flush error.
  void flush();

  /// How many receives are posted.
  std::size_t receives() const;

  // What the functions of libibverbs call.
  int post_send(const ibv_send_wr* list);
  int post_receive(const ibv_recv_wr* list);
  ibv_qp* handle() noexcept { return &handle_; }

 private:
  struct Receive {
    std::uint64_t id;
    std::span<std::byte> buffer;
  };

  struct Send {
    std::uint64_t id;
    bool is_signalled;
  };

  void start_send(const ibv_send_wr& work);
  void complete(const ibv_wc& completion);

  ibv_qp handle_{};
  ibv_cq* cq_;
  std::size_t max_sends_;
  std::size_t max_receives_;
  mutable std::mutex mutex_;
  std::deque<Receive> receives_;
  std::deque<Send> sending_;
  std::vector<std::vector<std::byte>> messages_;
  std::vector<std::span<std::byte>> reads_;
  std::function<void()> on_sent_;
};

}  // namespace rdmablk::fuzz
