#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "initiator/command_channel.h"
#include "initiator/connected_queue.h"
#include "initiator/flush_ledger.h"
#include "initiator/post_probe.h"
#include "initiator/queue_connection.h"
#include "initiator/request_list.h"

namespace rdmablk::initiator {

/// What the queues of one attachment of a file export share.
struct FileQueueOptions {
  std::string name;                     ///< for messages: the export's URI
  std::uint64_t size = 0;               ///< of the image, in bytes
  unsigned depth = 32;                  ///< pieces of requests that the target works on at once
  unsigned granted = 32;                ///< the most commands that the target may allow
  std::uint32_t max_piece = 1U << 20U;  ///< bytes of one READ or WRITE that the device takes
  bool flush_is_free = false;           ///< flushing has nothing to do
  bool can_discard = true;              ///< zeroes may give space back, if so asked
  FlushLedger* ledger = nullptr;        ///< where it notes writes and flushes; outlives the queue
};

/// An I/O queue of a file export: requests are commands to the target, whose data goes through
/// slots of its memory. A write puts its data into a slot by a WRITE, and sends the command behind
/// it; a read sends the command and fetches the data by a READ once the target says that it lies in
/// the slot. A request longer than a slot becomes several commands.
///
/// What the target answers concerns the one request: EIO, ENOSPC and the like are passed on, and
/// the queue goes on. When a work request fails, the target talks nonsense or the connection is
/// lost, the queue pair is destroyed before any request comes back as undone.
class FileQueue final : public ConnectedQueue, private CommandHandler {
 public:
  /// Takes a way to the target, connects and opens the queue. Blocks, driving the control loop.
  /// Throws Error.
  FileQueue(ControlLoop& loop, Way way, FileQueueOptions options,
            std::span<const std::byte> private_data, ControlLoop::Clock::time_point deadline);

  void submit(Request& request) noexcept override;
  void kick() noexcept override { post_pending(); }
  std::size_t poll(std::span<Request*> done) noexcept override;
  bool is_idle() const noexcept override {
    return free_.size() == pieces_.size() && pending_.empty() && done_.empty();
  }
  int fd() const noexcept override { return connection_.fd(); }
  void arm() noexcept override { connection_.arm(); }
  void resize(std::unique_ptr<QueueResize> to) noexcept override;
  std::unique_ptr<QueueResize> take_resized() noexcept override;

 private:
  /// What a slot is taken for: a request, or as much of it as fits.
  struct Piece {
    Request* request = nullptr;  ///< null: the slot is free
    std::uint64_t start = 0;     ///< within the request, in bytes
    std::uint32_t length = 0;    ///< of its data, in bytes
    bool is_reading = false;     ///< a READ fetches its data
  };

  /// What is posted in one go. All data goes before all commands: the target then meets the
  /// commands together, and a device that has the WRITEs wait for the SENDs before them need not.
  struct Batch {
    SendBatch data;
    SendBatch commands;
    PostTime time;
    std::uint64_t bytes = 0;  ///< of data

    bool has_room() const noexcept;
  };

  void check(const protocol::QueueReply& reply) const;
  bool reaches_past_end(const Piece& piece) const noexcept;
  bool is_whole(const Request& request) const noexcept;
  void post_pending() noexcept;
  void post(SendBatch& batch) noexcept;
  void add_next(Batch& batch) noexcept;
  void add_data_command(Batch& batch, unsigned slot, Request& request) noexcept;
  void add_plain_command(SendBatch& batch, unsigned slot, Request& request) noexcept;
  ibv_send_wr& add_transfer(SendBatch& batch, ibv_wr_opcode opcode, unsigned slot) noexcept;
  void reap() noexcept;
  void complete(const ibv_wc& completion) noexcept;
  void sent(std::uint64_t wr_id) noexcept;
  bool on_reply(unsigned slot, protocol::Status status,
                std::span<const std::byte> payload) noexcept override;
  void on_free(unsigned slot) noexcept override;
  static bool take_map(Request& request, std::span<const std::byte> payload) noexcept;
  void end_piece(unsigned slot) noexcept;
  void end(Request& request) noexcept;
  void notice_loss() noexcept;
  void go_down(const std::string& why, bool closed_by_peer = false) noexcept;

  FileQueueOptions options_;
  QueueConnection connection_;
  CommandChannel channel_;
  bool in_order_;               ///< completions come in the order of the work requests
  verbs::PostedSends posted_;   ///< where they do
  protocol::QueueReply slots_;  ///< where the target's slots are
  std::vector<Piece> pieces_;   ///< one a slot
  std::vector<unsigned> free_;  ///< slots
  SendBatch reads_;             ///< READs that replies made possible
  RequestList pending_;         ///< not posted, or the first one in part
  RequestList done_;            ///< to be returned by poll()
};

}  // namespace rdmablk::initiator
