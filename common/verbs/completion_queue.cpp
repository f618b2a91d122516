#include "common/verbs/completion_queue.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::verbs {

CompletionQueue::CompletionQueue(ibv_context* context, unsigned entries, CompletionChannel* channel)
    : cq_(ibv_create_cq(context, static_cast<int>(entries), nullptr,
                        channel != nullptr ? channel->get() : nullptr, 0)) {
  if (!cq_) {
    const int error = errno;
    const auto most = query_device(context).max_cqe;
    throw SystemError(fmt::format("create a completion queue of {} entries on {}, which takes {}",
                                  entries, device_name(context), most),
                      error);
  }
}

std::size_t CompletionQueue::poll(std::span<ibv_wc> completions) noexcept {
  const int count =
      ibv_poll_cq(cq_.get(), static_cast<int>(completions.size()), completions.data());
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void CompletionQueue::arm() noexcept {
  ibv_req_notify_cq(cq_.get(), 0);
}

std::string describe(const ibv_wc& completion) {
  return fmt::format("{} (status {}, vendor error {:#x})", ibv_wc_status_str(completion.status),
                     static_cast<int>(completion.status), completion.vendor_err);
}

}  // namespace rdmablk::verbs
