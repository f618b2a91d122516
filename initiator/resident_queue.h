#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "initiator/command_channel.h"
#include "initiator/connected_queue.h"
#include "initiator/dirty_map.h"
#include "initiator/flush_gate.h"
#include "initiator/memory_queue.h"

namespace rdmablk::initiator {

/// What the queues of one attachment of a resident export share.
struct ResidentState {
  explicit ResidentState(std::uint64_t size) : dirty(size) {}

  DirtyMap dirty;
  FlushGate gate;

  /// Whether anything was written that no flush has covered; in doubt it was.
  bool has_unflushed() const noexcept {
    // What a flush has taken is in its snapshot, and back in the map before the flush is not under
    // way any more. One that begins meanwhile may take what is not looked at yet.
    const std::uint64_t begun = gate.begun();
    return gate.is_under_way() || !dirty.is_clean() || gate.begun() != begun;
  }
};

/// An I/O queue of a resident export, attached for reading and writing. Data goes the way of memory
/// exports. A flush hands the target the ranges that were written since the last one, which it
/// writes to its file; what is flushed must have reached the target's processor, so that every
/// write is acknowledged by a READ behind it.
class ResidentQueue final : public ConnectedQueue, private CommandHandler {
 public:
  /// Takes a way to the target, connects and opens the queue. Blocks, driving the control loop.
  /// @param state outlives the queue. Throws Error.
  ResidentQueue(ControlLoop& loop, Way way, MemoryQueueOptions options, ResidentState& state,
                std::span<const std::byte> private_data, ControlLoop::Clock::time_point deadline);
  ~ResidentQueue() override;
  ResidentQueue(const ResidentQueue&) = delete;
  ResidentQueue& operator=(const ResidentQueue&) = delete;

  /// MemoryQueue::read_chunk_table().
  void read_chunk_table(ControlLoop& loop, std::uint64_t size, const protocol::ChunkTable& table,
                        ControlLoop::Clock::time_point deadline) {
    data_.read_chunk_table(loop, size, table, deadline);
  }

  void submit(Request& request) noexcept override;
  void kick() noexcept override;
  std::size_t poll(std::span<Request*> done) noexcept override;
  bool is_idle() const noexcept override;
  int fd() const noexcept override { return data_.fd(); }
  void arm() noexcept override;
  void resize(std::unique_ptr<QueueResize> to) noexcept override;
  std::unique_ptr<QueueResize> take_resized() noexcept override;

 private:
  static constexpr unsigned kSlot = 0;  ///< one flush is under way at a time

  /// A message that hands over ranges.
  struct Page {
    std::array<protocol::Range, protocol::IoCommand::kMaxRanges> ranges;
    std::uint32_t count = 0;
    bool has_more = false;

    void encode(protocol::WireWriter& writer) const;
  };

  std::size_t take_data(std::span<Request*> done) noexcept;
  void advance_flushes() noexcept;
  void collect() noexcept;
  void start_flush() noexcept;
  void send_page() noexcept;
  void end_flush() noexcept;
  void give_up_flushes() noexcept;
  void give_back(RequestList& list) noexcept;
  bool on_reply(unsigned slot, protocol::Status status,
                std::span<const std::byte> payload) noexcept override;
  void on_free(unsigned slot) noexcept override;

  ResidentState& state_;
  CommandChannel channel_;
  MemoryQueue data_;
  FlushGate::Member member_;
  RequestList unasked_;               ///< flushes, and durable writes that have completed
  std::array<RequestList, 2> asked_;  ///< the same, by the last bit of their flush's number
  RequestList done_;                  ///< to be returned by poll()
  bool is_flushing_ = false;          ///< for all who asked
  int flush_error_ = 0;               ///< what the target answered
  std::uint64_t next_range_ = 0;      ///< offset from which ranges are to be handed over
  Page page_;
  bool has_old_page_ = false;  ///< one is under way that may name what a new size cuts off
};

}  // namespace rdmablk::initiator
