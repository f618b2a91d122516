#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace rdmablk::verbs {

/// Tells that a completion queue has something to poll (ibv_create_comp_channel(3)). Its descriptor
/// is non-blocking. Outlives the completion queues made on it.
class CompletionChannel {
 public:
  /// Throws SystemError.
  explicit CompletionChannel(ibv_context* context);

  ibv_comp_channel* get() const noexcept { return channel_.get(); }

  /// Becomes readable when an armed completion queue gets a completion.
  int fd() const noexcept { return channel_->fd; }

  /// Takes and acknowledges all events that are waiting. Never blocks.
  /// @return whether there was one.
  bool drain() noexcept;

  /// The same for one event: spares the system call that finds no more.
  bool take() noexcept;

 private:
  struct Destroy {
    void operator()(ibv_comp_channel* channel) const noexcept { ibv_destroy_comp_channel(channel); }
  };
  std::unique_ptr<ibv_comp_channel, Destroy> channel_;
};

}  // namespace rdmablk::verbs
