#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/faults/shared_history.h"

namespace rdmablk::faults {

/// Where an operation goes: words in a row of one block.
struct Target {
  std::uint32_t word = 0;
  std::uint32_t count = 0;
};

/// One writer's way to tell a history: it knows what is in flight, and keeps the lane's horizon.
/// Each operation has a number below `depth`. When the ring is full it waits for the verifier.
class LaneWriter {
 public:
  /// @param history outlives it. @param lane claimed by this process.
  LaneWriter(const SharedHistory& history, Lane& lane, unsigned depth);
  /// Frees the lane.
  ~LaneWriter();
  LaneWriter(const LaneWriter&) = delete;
  LaneWriter& operator=(const LaneWriter&) = delete;

  /// A write of words is about to be submitted. @return the tag that each of them gets.
  Tag begin_write(unsigned number, const Target& target);
  void begin_read(unsigned number, const Target& target);
  /// It succeeded. @param words what was read.
  void end_write(unsigned number);
  void end_read(unsigned number, std::span<const Tag> words);
  void fail(unsigned number);

  /// What has failed since `renew` cannot take effect any more, or, with `all`, whatever has.
  void settle(bool all);
  /// A new session begins. @param attaching when it was asked for.
  /// @param takes_over it has fenced all other processes
  void renew(Time attaching, bool takes_over);

  Lane& lane() const noexcept { return lane_; }

 private:
  struct Operation {
    Target target;
    Tag tag = 0;  ///< 0 for a read
    Time start = kNever;
  };

  Time begin();
  void end(Operation& operation);
  void tell(const Record& record);

  const SharedHistory& history_;
  Lane& lane_;
  unsigned writer_;
  std::vector<Operation> operations_;
  unsigned in_flight_ = 0;
  Tag first_of_session_ = 0;
};

}  // namespace rdmablk::faults
