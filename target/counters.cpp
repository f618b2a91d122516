#include "target/counters.h"

#include <fmt/format.h>

namespace rdmablk::target {

std::string Counters::text() const {
  return fmt::format(
      "sessions={} attachments={} io_queues={} messages={} io_queue_receives={} refused={}",
      sessions, attachments, io_queues, messages, io_queue_completions, refused);
}

}  // namespace rdmablk::target
