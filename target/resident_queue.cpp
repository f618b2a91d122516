#include "target/resident_queue.h"

#include <array>
#include <utility>

#include "target/resident_store.h"

namespace rdmablk::target {

using protocol::MessageType;

ResidentQueue::ResidentQueue(std::unique_ptr<cm::Connection>& connection,
                             const Attachment& attachment, std::uint16_t number, QueueGround ground,
                             const ServedQueueContext& context, IoQueueOwner& owner)
    : ServedQueue(connection, attachment, number, attachment.use()->layout().count,
                  std::move(ground), context, owner),
      buffers_(MemoryMapping::anonymous(use().layout().slot_bytes())),
      command_context_{use().store(), *use().resident(), *use().writer(), thread()} {
  const SlotLayout& layout = use().layout();
  for (unsigned i = 0; i < layout.count; ++i) {
    commands_.emplace_back(command_context_, *this, i,
                           buffers_.bytes().subspan(i * layout.stride(), layout.stride()));
  }
}

void ResidentQueue::prepare() noexcept {
  command_context_.buffers = thread().ring().try_register_buffer(buffers_.bytes());
}

void ResidentQueue::clean_up() noexcept {
  thread().ring().unregister_buffer(command_context_.buffers);
}

protocol::QueueReply ResidentQueue::describe() const noexcept {
  protocol::QueueReply reply;
  reply.commands = use().layout().count;
  return reply;
}

const char* ResidentQueue::begin(unsigned slot, MessageType type,
                                 const protocol::IoCommand& command) noexcept {
  switch (type) {
    case MessageType::flush:
      commands_[slot].begin(command);
      return nullptr;
    case MessageType::map:
      end(slot, 0, map(slot, command.request()));
      return nullptr;
    default:
      return "data of a resident export is read and written one-sided";
  }
}

/// All of it lies in memory, holes as well.
std::size_t ResidentQueue::map(unsigned slot, const protocol::IoRequest& request) const noexcept {
  const std::array extents{protocol::Extent{request.length, false}};
  protocol::WireWriter writer(reply_payload(slot));
  protocol::encode_extents(writer, extents);
  return writer.size();
}

void ResidentQueue::on_done(ResidentCommand& command, int error) noexcept {
  end(command.number(), error);
}

}  // namespace rdmablk::target
