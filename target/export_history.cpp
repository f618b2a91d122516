#include "target/export_history.h"

#include <utility>

namespace rdmablk::target {

void ExportHistory::look(const std::vector<ExportStatus>& exports) {
  std::map<std::string, Seen> now;
  for (const ExportStatus& one : exports) {
    Seen seen{one.generation, one.lease, {}};
    if (const auto found = seen_.find(one.spec.name); found != seen_.end()) {
      const Seen& before = found->second;
      seen.entry = before.entry;
      if (before.generation != one.generation) ++seen.entry.generations;
      // They are numbered one after another, from anywhere.
      if (one.lease > before.lease)
        seen.entry.leases += before.lease == 0 ? 1 : one.lease - before.lease;
    }
    now.emplace(one.spec.name, seen);
  }
  seen_ = std::move(now);
}

std::map<std::string, ExportHistoryEntry> ExportHistory::entries() const {
  std::map<std::string, ExportHistoryEntry> entries;
  for (const auto& [name, seen] : seen_) entries.emplace(name, seen.entry);
  return entries;
}

}  // namespace rdmablk::target
