#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/softverbs/faults/fault_injector.h"
#include "common/softverbs/verbs/direct_access.h"
#include "common/softverbs/verbs/memory_copy.h"
#include "common/softverbs/verbs/message.h"
#include "common/softverbs/verbs/peer.h"
#include "common/softverbs/verbs/send_request.h"
#include "common/softverbs/verbs/timer_queue.h"
#include "common/softverbs/verbs/work_queue.h"

namespace softverbs {

class QueuePair;

/// The sending half of a queue pair. Everything is called under the queue pair's send lock.
///
/// Requests run in order. READs and WRITEs are done on the spot, in the thread that posts or, when
/// something before them is outstanding, in the service thread. SENDs and the notice of a WRITE
/// with immediate go to the responder's service thread, many at a time; a negative answer rewinds
/// to the request it names. What takes several messages, or an answer with data, runs alone
/// ("exclusively"), one message at a time.
class Requester {
 public:
  Requester(QueuePair& queue_pair, const ibv_qp_cap& capabilities);

  /// Queues requests. \return 0 or an errno, with `bad` set to the first that was not queued.
  int post(const ibv_send_wr* request, ibv_send_wr** bad);
  /// Runs what can run.
  void advance();
  /// A new connection begins.
  void start();
  /// Forgets everything.
  void reset();
  /// Completes everything outstanding with IBV_WC_WR_FLUSH_ERR.
  void flush();
  /// Set by pollers; see WorkQueue.
  std::atomic<uint64_t>& consumed() { return queue_.consumed; }
  /// Whether nothing is under way; requests may be queued.
  [[nodiscard]] bool idle() const { return first_ == next_ && !exclusive() && !held_; }

  void on_reply(const Message& reply, const char* payload);
  void on_timer();
  void on_peer_death();

 private:
  enum class Exclusive { kNone, kSend, kAtomic, kCopyWrite, kCopyRead, kViolation };

  int enqueue(const ibv_send_wr& request);
  void begin_epoch();
  bool start_next();
  bool start_direct(SendRequest& request, const PieceList& pieces);
  bool start_message(SendRequest& request, const PieceList& pieces);
  bool run_exclusive();
  void begin_exclusive(Exclusive kind);
  [[nodiscard]] bool exclusive() const { return exclusive_ != Exclusive::kNone; }
  bool collect(uint64_t position, PieceList& pieces);
  Access access_peer(const SendRequest& request, const PieceList& pieces);
  [[nodiscard]] Route route() const;
  bool refuse(ibv_wc_status status);
  Message make_message(const SendRequest& request, MessageType type) const;
  Peer::Sent send(const Message& message, const PieceList& pieces);
  void complete_first(ibv_wc_status status);
  void fail(ibv_wc_status status);
  void on_exclusive_reply(const Message& reply, const char* payload);
  void on_negative_reply(const Message& reply);
  void on_no_receive(uint8_t timer);
  void on_not_ready();
  void pause(Clock::duration time);
  void made_progress();

  // Faults on purpose, in requester_faults.cpp.
  /// What a fault has done to the request that was about to start: nothing; or it is to be looked
  /// at again, now or when something has happened.
  enum class Meeting { kStarts, kMoved, kWaits };
  Meeting meet_faults(SendRequest& request);
  bool strikes_post();
  std::optional<Strike> draw_fault(const SendRequest& request);
  bool is_first_word();
  void delay(const SendRequest& request);
  void hold_completion();
  Meeting fail_with_error(SendRequest& request);
  void die();
  void give_up_early();
  void launch_late(uint64_t position, Clock::time_point when);
  void leave_delayed_on_network();
  bool carry_out(uint64_t position);
  void forget_faults();

  QueuePair& queue_pair_;
  FaultInjector* const faults_ = FaultInjector::get();
  WorkQueue<SendRequest> queue_;
  size_t max_inline_;
  std::vector<char> inline_data_;

  uint64_t first_ = 0;  ///< The oldest request that has not completed.
  uint64_t next_ = 0;   ///< The oldest request that has not been started.
  uint32_t epoch_ = 0;
  uint32_t next_msn_ = 0;

  Exclusive exclusive_ = Exclusive::kNone;  ///< How request `first_` runs.
  bool awaiting_ = false;                   ///< Its last message has not been answered.
  uint32_t offset_ = 0;                     ///< So much of it is done.
  ibv_wc_status refusal_ = IBV_WC_SUCCESS;  ///< What a violation completes with.

  bool paused_ = false;
  Clock::time_point resume_at_;
  int rnr_retries_ = 0;
  std::optional<Clock::time_point> not_ready_since_;

  std::optional<Strike> fate_;  ///< The fault that a request has met, and is not through with.
  uint64_t fate_of_ = 0;        ///< The request that it has met.
  bool spoken_ = false;         ///< A request was about to start on this connection.
  bool delayed_ = false;        ///< Request `next_` has begun to be delayed.
  Clock::duration hold_{};      ///< Its completion is held back for so long once it is done.
  bool held_ = false;           ///< Request `first_` is done; its completion is held back.
};

}  // namespace softverbs
