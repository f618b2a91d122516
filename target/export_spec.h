#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/messages.h"

namespace rdmablk::target {

/// The size of a chunk unless another is asked for, in bytes.
inline constexpr std::uint64_t kDefaultChunk = std::uint64_t{256} << 20;

/// The most chunks that an export is cut into.
inline constexpr std::uint64_t kMaxChunks = std::uint64_t{1} << 20;

/// An export as its owner asks for it.
struct ExportSpec {
  std::string name;
  protocol::ExportKind kind = protocol::ExportKind::memory;
  std::uint64_t size = 0;       ///< bytes, a multiple of 512
  std::uint64_t huge_page = 0;  ///< bytes of a huge page; zero: the usual pages
  bool read_only = false;
  std::uint64_t chunk = kDefaultChunk;  ///< bytes, a power of two and at least a page
};

/// Reads NAME=memory:SIZE[,huge=2M|1G][,readonly][,chunk=SIZE]. A comma that belongs to a value is
/// written `\,`, a backslash before a comma `\\`. Throws UsageError.
ExportSpec parse_export_spec(std::string_view text);

/// Reads several. Throws UsageError, also when two have the same name.
std::vector<ExportSpec> parse_export_specs(const std::vector<std::string>& texts);

}  // namespace rdmablk::target
