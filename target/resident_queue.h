#pragma once

#include <deque>

#include "common/memory_mapping.h"
#include "target/resident_command.h"
#include "target/served_queue.h"

namespace rdmablk::target {

/// The target's end of an I/O queue of a resident export, of an attachment that writes: data goes
/// one-sided, between the peer and the export's memory; messages have the target write to the file
/// what they name.
class ResidentQueue final : public ServedQueue, public ResidentCommandOwner {
 public:
  /// Takes the peer's request to connect, without answering it yet. Throws SystemError; the
  /// connection is the caller's to refuse then, unless it is gone.
  /// @param attachment that writes.
  ResidentQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
                std::uint16_t number, QueueGround ground, const ServedQueueContext& context,
                IoQueueOwner& owner);

 private:
  void prepare() noexcept override;
  void clean_up() noexcept override;
  void abandon() noexcept override { command_context_.abandoned = true; }
  protocol::QueueReply describe() const noexcept override;
  const char* begin(unsigned slot, protocol::MessageType type,
                    const protocol::IoCommand& command) noexcept override;
  void on_done(ResidentCommand& command, int error) noexcept override;
  std::size_t map(unsigned slot, const protocol::IoRequest& request) const noexcept;

  MemoryMapping buffers_;
  ResidentCommandContext command_context_;
  std::deque<ResidentCommand> commands_;
};

}  // namespace rdmablk::target
