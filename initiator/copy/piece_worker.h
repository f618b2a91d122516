#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include "initiator/copy/copy_plan.h"
#include "initiator/copy/lane.h"

namespace rdmablk::copy {

/// A request that failed.
struct Failure {
  Side side = Side::source;
  initiator::Operation operation = initiator::Operation::read;
  std::uint64_t offset = 0;  ///< bytes, in the image
  std::uint64_t length = 0;  ///< bytes
  int error = 0;             ///< an errno value
};

/// Takes pieces from a plan and works on several of them at once, on a thread of its own. What is
/// done with a piece is up to the derived class, a request at a time.
class PieceWorker {
 public:
  /// @param lane outlives the worker, and so does the plan. @param slot_blocks blocks of the lane's
  /// memory that each piece needs.
  PieceWorker(Lane& lane, CopyPlan& plan, unsigned slot_blocks);
  virtual ~PieceWorker() = default;
  PieceWorker(const PieceWorker&) = delete;
  PieceWorker& operator=(const PieceWorker&) = delete;

  /// The thread's work: until the plan has no more. When a request fails, the plan is stopped.
  void run() noexcept;

  /// Bytes of the pieces that are done. From any thread.
  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  /// After run().
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// What the plan threw; null: nothing.
  const std::exception_ptr& plan_failure() const noexcept { return plan_failure_; }

 protected:
  /// A piece that is being worked on.
  struct Slot {
    Piece piece;
    std::uint64_t done = 0;       ///< bytes of it, for the derived class
    unsigned step = 0;            ///< where it is; 0: nothing was done yet
    Side side = Side::source;     ///< of the request that is under way
    std::span<std::byte> memory;  ///< slot_blocks blocks
    initiator::Request* request = nullptr;
    bool is_under_way = false;  ///< the request
  };

  /// Begins with a piece, or goes on with it once a request has ended well: submits the next one.
  /// @return false when nothing is left to do for it.
  virtual bool advance(Slot& slot) = 0;

  /// @param position bytes from where the copied range begins. @param data within slot.memory.
  void submit(Slot& slot, Side side, initiator::Operation operation, std::uint64_t position,
              std::uint64_t length, std::byte* data = nullptr) noexcept;

  /// Ends everything: no further request is made.
  void fail(const Failure& failure) noexcept;

  Lane& lane() noexcept { return lane_; }
  CopyPlan& plan() noexcept { return plan_; }

 private:
  void start_next_piece(Slot& slot) noexcept;
  std::optional<Piece> next_piece() noexcept;
  void go_on(Slot& slot) noexcept;
  void on_ended(initiator::Request& request) noexcept;
  bool take_ended(Side side) noexcept;
  bool take_all_ended() noexcept;
  void cancel_waiting() noexcept;
  void wait() noexcept;

  Lane& lane_;
  CopyPlan& plan_;
  std::vector<initiator::Request> requests_;  ///< one of each slot
  std::vector<Slot> slots_;
  std::vector<initiator::Request*> ended_;
  unsigned under_way_ = 0;
  std::optional<Failure> failure_;
  std::exception_ptr plan_failure_;
  alignas(64) std::atomic<std::uint64_t> bytes_ = 0;  // read by the main thread
};

}  // namespace rdmablk::copy
