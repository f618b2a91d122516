#include "target/file_queue.h"

#include <cerrno>
#include <utility>

namespace rdmablk::target {
namespace {

using protocol::MessageType;

unsigned slot_access(bool writes) {
  constexpr unsigned kReads = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
  return writes ? kReads | IBV_ACCESS_REMOTE_WRITE : kReads;
}

}  // namespace

FileQueue::FileQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
                     std::uint16_t number, QueueGround ground, const ServedQueueContext& context,
                     IoQueueOwner& owner)
    : ServedQueue(connection, attachment, number, attachment.use()->layout().count,
                  std::move(ground), context, owner),
      layout_(use().layout()),
      slots_(protection_domain(), layout_.slot_bytes(), slot_access(use().writer() != nullptr)),
      edges_(layout_.edge_bytes() > 0 ? MemoryMapping::anonymous(layout_.edge_bytes())
                                      : MemoryMapping()),
      command_context_{use().store(), use().writer(), thread(), blocking()},
      maps_(layout_.count) {
  const std::size_t edges = layout_.edge_bytes() / layout_.count;
  for (unsigned i = 0; i < layout_.count; ++i) {
    commands_.emplace_back(command_context_, *this, i, slots_.piece(i, layout_.stride()),
                           edges_.bytes().subspan(i * edges, edges));
  }
}

Footprint FileQueue::footprint() const noexcept {
  Footprint footprint = ServedQueue::footprint();
  footprint += {.memory_regions = 1, .bytes = layout_.slot_bytes()};
  return footprint;
}

void FileQueue::abandon() noexcept {
  command_context_.abandoned = true;
  while (const auto waiting = maps_.drop()) end(waiting->slot, ECANCELED);
}

void FileQueue::prepare() noexcept {
  command_context_.slots = thread().ring().try_register_buffer(slots_.bytes());
  command_context_.edges = thread().ring().try_register_buffer(edges_.bytes());
}

void FileQueue::clean_up() noexcept {
  thread().ring().unregister_buffer(command_context_.slots);
  thread().ring().unregister_buffer(command_context_.edges);
}

protocol::QueueReply FileQueue::describe() const noexcept {
  protocol::QueueReply reply;
  reply.address = reinterpret_cast<std::uintptr_t>(slots_.data());
  reply.rkey = slots_.rkey();
  reply.commands = layout_.count;
  reply.stride = static_cast<std::uint32_t>(layout_.stride());
  reply.max_io = layout_.max_io;
  reply.alignment = layout_.alignment;
  return reply;
}

const char* FileQueue::begin(unsigned slot, MessageType type,
                             const protocol::IoCommand& command) noexcept {
  const auto& request = command.request();
  const bool has_data = type == MessageType::read || type == MessageType::write;
  if (has_data && request.length > layout_.max_io) return "a request is too long for its slot";
  if (command.range_count() > 0) return "only a resident export takes ranges to flush";
  if (type == MessageType::map) {
    if (maps_.enter({slot, request})) begin_map(slot, request);
  } else {
    commands_[slot].begin(type, request, reply_payload(slot));
  }
  return nullptr;
}

void FileQueue::begin_map(unsigned slot, const protocol::IoRequest& request) noexcept {
  commands_[slot].begin(MessageType::map, request, reply_payload(slot));
}

void FileQueue::on_done(FileCommand& command, int error) noexcept {
  if (command.type() == MessageType::map) {
    if (const auto next = maps_.leave()) begin_map(next->slot, next->request);
  }
  end(command.number(), error, command.reply_size());
}

}  // namespace rdmablk::target
