#pragma once

#include "common/random.h"
#include "common/uuid.h"
#include "target/memory_record.h"

namespace rdmablk::target {

/// The record of an export "disk" of 1 MiB of memory.
inline MemoryRecord sample_record() {
  MemoryRecord record;
  set_text(record.name, "disk");
  record.size = std::uint64_t{1} << 20;
  record.memory = random_bytes<MemoryId>();
  record.uuid = make_uuid();
  record.generation = random_bytes<protocol::Generation>();
  record.lease = 41;
  return record;
}

/// The memfd of a record once more, as another process gets it.
inline UniqueFd duplicate(int fd) {
  return UniqueFd(::dup(fd));
}

}  // namespace rdmablk::target
