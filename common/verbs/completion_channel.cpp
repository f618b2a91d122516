#include "common/verbs/completion_channel.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/unique_fd.h"
#include "common/verbs/context.h"

namespace rdmablk::verbs {

CompletionChannel::CompletionChannel(ibv_context* context)
    : channel_(ibv_create_comp_channel(context)) {
  if (!channel_) {
    throw SystemError(fmt::format("create a completion channel on {}", device_name(context)),
                      errno);
  }
  set_nonblocking(channel_->fd);
}

bool CompletionChannel::drain() noexcept {
  bool drained = false;
  while (take()) drained = true;
  return drained;
}

bool CompletionChannel::take() noexcept {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &cq, &context) != 0) return false;
  ibv_ack_cq_events(cq, 1);
  return true;
}

}  // namespace rdmablk::verbs
