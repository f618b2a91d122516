#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/protocol/messages.h"
#include "target/administration.h"

namespace rdmablk::target {

/// What became of an export since it was first looked at.
struct ExportHistoryEntry {
  std::uint64_t generations = 0;  ///< times that it was seen to have another generation
  std::uint64_t leases = 0;       ///< rights to write that were given out
};

/// Counts what exports show only the last one of, as far as somebody looks. Control thread.
class ExportHistory {
 public:
  void look(const std::vector<ExportStatus>& exports);

  /// Of each export that there is.
  std::map<std::string, ExportHistoryEntry> entries() const;

 private:
  struct Seen {
    protocol::Generation generation{};
    std::uint64_t lease = 0;
    ExportHistoryEntry entry;
  };

  std::map<std::string, Seen> seen_;
};

}  // namespace rdmablk::target
