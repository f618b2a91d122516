#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/verbs/registered_buffer.h"
#include "initiator/chunk_map.h"
#include "initiator/command_channel.h"
#include "initiator/connected_queue.h"
#include "initiator/post_probe.h"
#include "initiator/queue_connection.h"
#include "initiator/request_buffers.h"
#include "initiator/request_list.h"
#include "initiator/work_slots.h"

namespace rdmablk::initiator {

/// What the queues of one attachment share.
struct MemoryQueueOptions {
  std::string name;                        ///< for messages: the export's URI
  unsigned depth = 32;                     ///< READs and WRITEs outstanding
  std::uint64_t max_piece = 1U << 20U;     ///< bytes of one READ or WRITE
  const RequestBuffers* zeroes = nullptr;  ///< at least max_piece bytes of zero

  /// Acknowledge writes by READs on every device, and so only when the target's processor sees
  /// them, which a completed WRITE does not promise.
  bool acknowledges_by_read = false;
};

/// Commands that go over a queue's connection besides; both outlive the queue.
struct CommandUse {
  CommandChannel& channel;
  CommandHandler& handler;
};

/// An I/O queue of a memory export: reads are READs, writes are WRITEs, straight to the export's
/// chunks; the target's CPU does not run for them.
///
/// On InfiniBand and RoCE a WRITE that completed is in the target's memory. On iWARP it has only
/// been sent: there a write is acknowledged when a READ that was posted after it on the same queue
/// pair has completed; one READ covers all WRITEs of a batch.
///
/// When a work request fails or the connection is lost, the queue pair is destroyed before any
/// request comes back as undone: its completions could be waited for, but soft-iWARP gives none for
/// what is posted to a queue pair in error.
class MemoryQueue final : public ConnectedQueue {
 public:
  /// Takes a way to the target, and connects. Throws ConnectError or SystemError.
  MemoryQueue(Way way, MemoryQueueOptions options, std::span<const std::byte> private_data,
              ControlLoop::Clock::time_point deadline,
              std::optional<CommandUse> commands = std::nullopt);

  /// READs the chunk table, as the first thing on the queue unless QUEUE is (an iWARP target waits
  /// for the initiator to begin). Blocks, driving the control loop. Throws Error.
  /// @param size of the image, in bytes.
  void read_chunk_table(ControlLoop& loop, std::uint64_t size, const protocol::ChunkTable& table,
                        ControlLoop::Clock::time_point deadline);

  void submit(Request& request) noexcept override;
  void kick() noexcept override { post_pending(); }
  std::size_t poll(std::span<Request*> done) noexcept override;
  bool is_quiet() const noexcept override { return is_idle() && !commands_; }
  bool is_idle() const noexcept override {
    return slots_.all_free() && pending_.empty() && done_.empty();
  }
  int fd() const noexcept override { return connection_.fd(); }
  void arm() noexcept override { connection_.arm(); }
  void drain() noexcept override { connection_.drain(); }
  void resize(std::unique_ptr<QueueResize> to) noexcept override;
  std::unique_ptr<QueueResize> take_resized() noexcept override;

  /// For whoever sends commands over it.
  QueueConnection& connection() noexcept { return connection_; }
  void post(SendBatch& batch) noexcept;

 private:
  /// Work requests that are posted in one go.
  struct Batch {
    SendBatch sends;
    PostTime time;
    unsigned acknowledges = 0;  ///< writes whose last WRITE is in it, where READs acknowledge
  };

  void post_pending() noexcept;
  bool advance_resize() noexcept;
  void read_table_piece(const QueueResize& to) noexcept;
  void adopt(QueueResize& to) noexcept;
  void fill(Batch& batch) noexcept;
  void add_piece(Batch& batch, Request& request) noexcept;
  void add_acknowledgement(Batch& batch) noexcept;
  void reap() noexcept;
  void complete(const ibv_wc& completion) noexcept;
  void complete(Request* request) noexcept;
  void acknowledge() noexcept;
  bool is_listed(const Request& request) const noexcept;
  void notice_loss() noexcept;
  void go_down(const std::string& why, bool closed_by_peer = false) noexcept;
  void give_back(Request& request) noexcept;

  MemoryQueueOptions options_;
  bool acknowledges_by_read_;
  std::optional<CommandUse> commands_;
  WorkSlots slots_;
  verbs::RegisteredBuffer sink_;  ///< of the READs that acknowledge
  QueueConnection connection_;
  std::uint64_t size_ = 0;  ///< of the image, in bytes
  ChunkMap chunks_;
  protocol::ChunkTable table_;

  // While it takes up another size.
  std::size_t table_read_ = 0;     ///< bytes of the new table that were posted to be READ
  bool is_reading_table_ = false;  ///< such a READ is under way, alone
  bool is_resized_ = false;        ///< it has been taken up

  RequestList pending_;                     ///< not posted, or the first one in part
  RequestList unacknowledged_;              ///< posted, waiting for a READ
  RequestList done_;                        ///< to be returned by poll()
  std::vector<unsigned> acknowledgements_;  ///< a ring: writes covered by each READ in flight
  std::size_t first_acknowledgement_ = 0;
  std::size_t next_acknowledgement_ = 0;
};

}  // namespace rdmablk::initiator
