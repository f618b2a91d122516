#pragma once

#include <deque>

#include "common/verbs/registered_buffer.h"
#include "target/file_command.h"
#include "target/map_line.h"
#include "target/served_queue.h"

namespace rdmablk::target {

/// The target's end of an I/O queue of a file export. Each request has a slot of memory that the
/// peer READs and WRITEs, registered for this queue alone, in a protection domain that nothing else
/// lies in.
class FileQueue final : public ServedQueue, public FileCommandOwner {
 public:
  /// Takes the peer's request to connect, without answering it yet. Throws MemlockError or
  /// SystemError; the connection is the caller's to refuse then, unless it is gone.
  FileQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
            std::uint16_t number, QueueGround ground, const ServedQueueContext& context,
            IoQueueOwner& owner);

  Footprint footprint() const noexcept override;

 private:
  void prepare() noexcept override;
  void clean_up() noexcept override;
  void abandon() noexcept override;
  void begin_map(unsigned slot, const protocol::IoRequest& request) noexcept;
  protocol::QueueReply describe() const noexcept override;
  const char* begin(unsigned slot, protocol::MessageType type,
                    const protocol::IoCommand& command) noexcept override;
  void on_done(FileCommand& command, int error) noexcept override;

  SlotLayout layout_;
  verbs::RegisteredBuffer slots_;
  MemoryMapping edges_;
  FileCommandContext command_context_;
  std::deque<FileCommand> commands_;
  MapLine maps_;
};

}  // namespace rdmablk::target
