#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/protocol/messages.h"

namespace rdmablk::target {

/// Tells one piece of memory from all others that an export was ever served from.
using MemoryId = protocol::Uuid;

/// What is kept of an export in the state directory.
struct ExportState {
  std::string path;                          ///< of its file, for people
  std::string file;                          ///< FileFingerprint::incarnation
  std::uint64_t size = 0;                    ///< bytes
  std::optional<std::uint64_t> next_size{};  ///< it is being resized to so many
  bool was_resized = false;  ///< while it was served: the size in the configuration is an older one
  protocol::Uuid uuid{};
  protocol::Generation generation{};
  std::uint64_t lease = 0;  ///< the last number that was given
  std::string boot;         ///< during which the target ran
  bool clean = false;       ///< it has ended, with all content in the file and on stable storage
  std::optional<MemoryId> memory;  ///< content lay there, and in the file only when it was flushed

  /// As JSON.
  std::string encode() const;

  /// Nothing for what is damaged, or of another version.
  static std::optional<ExportState> decode(std::string_view text);
};

struct MemoryRecord;

/// The content of an export as a target finds it at its start.
struct FoundContent {
  std::string file;  ///< FileFingerprint::incarnation
  std::uint64_t size = 0;
  std::string boot;
  /// The memory that it is served from; nothing when the file itself is.
  std::optional<MemoryId> memory;
  /// What is known of that memory, when it comes from an earlier process.
  const MemoryRecord* inherited = nullptr;
};

/// How the content relates to what the export was known by.
enum class Continuity {
  same,             ///< everything that was acknowledged is there
  may_lack_writes,  ///< what was not flushed may be missing
  other,            ///< the file was replaced, or resized
};

Continuity compare(const ExportState& before, const FoundContent& now);

}  // namespace rdmablk::target
