#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"

namespace rdmablk::testing {

/// A session with one attachment of the file export "disk" and one queue of it.
class FileClient {
 public:
  FileClient(EventWaiter& waiter, const SocketAddress& target,
             protocol::Access access = protocol::Access::read_write)
      : waiter_(waiter), target_(target), initiator_(waiter, target) {
    initiator_.hello();
    attach(access);
  }

  /// The same, read-write, of an initiator of a known instance.
  FileClient(EventWaiter& waiter, const SocketAddress& target, const protocol::InstanceId& instance)
      : waiter_(waiter), target_(target), initiator_(waiter, target) {
    initiator_.hello(instance);
    attach();
  }

  RawInitiator& initiator() { return initiator_; }
  RawQueue& queue() { return *queue_; }
  const protocol::AttachReply& attachment() const { return attachment_; }

  /// Where slot 0 is, and the rest; once it is open.
  const protocol::QueueReply& slots() const { return slots_; }

  /// Makes an attachment, and its queue. @return whether the target admits that.
  bool attach(protocol::Access access = protocol::Access::read_write) {
    attachment_ = initiator_.attach("disk", access);
    epoch_ = attachment_.epoch - 1;
    return connect();
  }

  /// Makes its queue anew, in the next epoch. @return whether the target admits it.
  bool connect() {
    queue_.reset();
    auto request = queue_request(attachment_);
    request.epoch = ++epoch_;
    queue_.emplace(waiter_, target_, request.encode());
    return queue_->connected();
  }

  FileClient& open() {
    const auto reply = queue_->request(protocol::MessageType::queue, 0, {});
    const auto slots = reply ? protocol::QueueReply::decode(reply->payload) : std::nullopt;
    EXPECT_TRUE(slots);
    slots_ = slots.value_or(protocol::QueueReply{});
    return *this;
  }

  /// How the target answers a request; nothing when it ends the queue.
  std::optional<protocol::Status> ask(protocol::MessageType type,
                                      const protocol::IoRequest& request, std::uint64_t slot = 1) {
    const Command one = command(type, slot, request);
    if (!queue_->send({&one, 1})) return std::nullopt;
    const auto reply = queue_->receive();
    return reply ? std::optional(reply->header.status) : std::nullopt;
  }

  /// As many requests as there are slots, each of its own 4096 bytes.
  std::vector<Command> one_a_slot(protocol::MessageType type) const {
    std::vector<Command> commands;
    for (std::uint64_t slot = 0; slot < slots_.commands; ++slot) {
      commands.push_back(command(type, slot, {slot * 4096, 4096, 0, 0}));
    }
    return commands;
  }

  std::uint64_t slot_address(std::uint64_t slot) const {
    return slots_.address + slot * slots_.stride;
  }

 private:
  EventWaiter& waiter_;
  SocketAddress target_;
  RawInitiator initiator_;
  protocol::AttachReply attachment_;
  std::uint32_t epoch_ = 0;
  std::optional<RawQueue> queue_;
  protocol::QueueReply slots_;
};

}  // namespace rdmablk::testing
