#include "target/memory_identity.h"

#include <utility>

#include "target/generation.h"

namespace rdmablk::target {

protocol::Generation MemoryIdentity::generation() const {
  const std::scoped_lock lock(mutex_);
  return memory_.record().generation;
}

std::uint64_t MemoryIdentity::last_lease() const noexcept {
  const std::scoped_lock lock(mutex_);
  return memory_.record().lease;
}

std::uint64_t MemoryIdentity::next_lease() {
  const std::scoped_lock lock(mutex_);
  MemoryRecord record = memory_.record();
  ++record.lease;
  memory_.update(record);
  return record.lease;
}

void MemoryIdentity::note_writer() noexcept {
  const std::scoped_lock lock(mutex_);
  MemoryRecord record = memory_.record();
  if (!std::exchange(record.is_unused, false)) return;
  memory_.update(record);
}

void MemoryIdentity::end_resize(std::uint64_t size) {
  const std::scoped_lock lock(mutex_);
  MemoryRecord record = memory_.record();
  record.size = size;
  record.is_resized = true;
  memory_.update(record);
}

void MemoryIdentity::mark_lost() noexcept {
  const std::scoped_lock lock(mutex_);
  MemoryRecord record = memory_.record();
  change(record.generation);
  memory_.update(record);
}

}  // namespace rdmablk::target
