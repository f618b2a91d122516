#include "tests/faults/lane_writer.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace rdmablk::faults {

LaneWriter::LaneWriter(const SharedHistory& history, Lane& lane, unsigned depth)
    : history_(history), lane_(lane), writer_(history.index_of(lane)), operations_(depth) {}

LaneWriter::~LaneWriter() {
  lane_.horizon.store(kNever);
  lane_.owner.store(0);
}

void LaneWriter::renew(Time attaching, bool takes_over) {
  const RecordKind kind = takes_over ? RecordKind::take_over : RecordKind::attached;
  tell({kind, 0, 0, attaching, now()});
  first_of_session_ = make_tag(writer_, lane_.sequence.load() + 1);
  ++lane_.sessions;
}

Tag LaneWriter::begin_write(unsigned number, const Target& target) {
  const Tag tag = make_tag(writer_, ++lane_.sequence);
  operations_[number] = {target, tag, begin()};
  for (std::uint32_t i = 0; i < target.count; ++i) {
    tell({RecordKind::begin, target.word + i, tag, operations_[number].start, kNever});
  }
  return tag;
}

void LaneWriter::begin_read(unsigned number, const Target& target) {
  operations_[number] = {target, 0, begin()};
}

/// The horizon is there before the time is taken.
Time LaneWriter::begin() {
  if (in_flight_++ == 0) lane_.horizon.store(now());
  return now();
}

void LaneWriter::end_write(unsigned number) {
  Operation& operation = operations_[number];
  const Time time = now();
  for (std::uint32_t i = 0; i < operation.target.count; ++i) {
    tell({RecordKind::end, operation.target.word + i, operation.tag, operation.start, time});
  }
  end(operation);
}

void LaneWriter::end_read(unsigned number, std::span<const Tag> words) {
  Operation& operation = operations_[number];
  const Time time = now();
  for (std::uint32_t i = 0; i < operation.target.count; ++i) {
    tell({RecordKind::read, operation.target.word + i, words[i], operation.start, time});
  }
  end(operation);
}

void LaneWriter::fail(unsigned number) {
  Operation& operation = operations_[number];
  for (std::uint32_t i = 0; operation.tag != 0 && i < operation.target.count; ++i) {
    tell({RecordKind::fail, operation.target.word + i, operation.tag, operation.start, kNever});
  }
  ++lane_.failures;
  end(operation);
}

void LaneWriter::end(Operation& operation) {
  operation.start = kNever;
  --in_flight_;
  ++lane_.operations;
  Time horizon = kNever;
  for (const Operation& each : operations_) horizon = std::min(horizon, each.start);
  lane_.horizon.store(horizon);
}

void LaneWriter::settle(bool all) {
  tell({RecordKind::settle, 0, all ? 0 : first_of_session_, 0, now()});
}

void LaneWriter::tell(const Record& record) {
  const std::uint64_t at = lane_.told.load(std::memory_order_relaxed);
  while (at - lane_.taken.load(std::memory_order_acquire) == Lane::kRecords) {
    if (history_.stopped()) return;  // Nobody listens any more.
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  lane_.records[at % Lane::kRecords] = record;
  lane_.told.store(at + 1, std::memory_order_release);
}

}  // namespace rdmablk::faults
