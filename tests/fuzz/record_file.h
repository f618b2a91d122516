#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/unique_fd.h"
#include "target/memory_record.h"
#include "tests/fuzz/input.h"

namespace rdmablk::fuzz {

/// The record of an export of memory.
target::MemoryRecord record_of(std::string_view name, std::uint64_t size);

/// A memory record and its memory, as another process leaves them: right ones, with what the input
/// changes in them.
class RecordFile {
 public:
  RecordFile(Input& input, std::string_view name);

  UniqueFd file() { return std::move(file_); }
  UniqueFd memory() { return std::move(memory_); }

 private:
  void spoil(Input& input);

  std::vector<std::byte> bytes_;
  UniqueFd file_;
  UniqueFd memory_;
};

}  // namespace rdmablk::fuzz
