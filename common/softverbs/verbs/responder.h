#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/softverbs/verbs/completion_queue.h"
#include "common/softverbs/verbs/memory_copy.h"
#include "common/softverbs/verbs/message.h"
#include "common/softverbs/verbs/send_request.h"
#include "common/softverbs/verbs/work_queue.h"

namespace softverbs {

class QueuePair;

/// The receiving half of a queue pair: its receive queue, and what the service thread does for
/// the peer. Everything but `answer` is called under the queue pair's receive lock.
class Responder {
 public:
  Responder(QueuePair& queue_pair, const ibv_qp_cap& capabilities);

  int post(const ibv_recv_wr* request, ibv_recv_wr** bad);
  void start();
  void reset();
  void flush();

  /// What became of a message.
  struct Result {
    std::optional<Message> reply;  ///< None: it is out of order and ignored.
    bool fails = false;            ///< The queue pair has to go to the error state.
    std::optional<ibv_event_type> event;
    /// To be made visible after the reply was sent: a program that has seen its receive may exit.
    std::optional<Completion> completion;
    bool solicited = false;
  };

  /// \param answer  receives the payload of the reply, if it has one
  Result handle(const Message& request, const char* payload, std::vector<char>& answer);

  /// A reply without payload.
  static Message answer(const Message& request, ReplyStatus status);

 private:
  int enqueue(const ibv_recv_wr& request);
  Result deliver(const Message& request, const char* payload);
  Result begin_delivery(const Message& request);
  Result refuse_delivery(const Message& request, ibv_wc_status local, ReplyStatus remote);
  Completion take_first(const Message& request, ibv_wc_status status);
  Result serve_atomic(const Message& request, std::vector<char>& answer);
  Result serve_copy(const Message& request, const char* payload, std::vector<char>& answer);
  static Result respond(const Message& request, ReplyStatus status);
  static Result fail(const Message& request);

  QueuePair& queue_pair_;
  WorkQueue<ReceiveRequest> queue_;
  uint64_t first_ = 0;  ///< The oldest request that has not completed.
  uint32_t expected_msn_ = 0;
  bool delivering_ = false;  ///< Request `first_` has a part of a message.
  PieceList pieces_;         ///< Its memory, while delivering.
};

}  // namespace softverbs
