#include "target/generation_watch.h"

#include <utility>

namespace rdmablk::target {

void GenerationWatch::look(const std::vector<ExportStatus>& exports) {
  std::map<std::string, Seen> now;
  for (const ExportStatus& one : exports) {
    Seen seen{one.generation, 0};
    if (const auto before = seen_.find(one.spec.name); before != seen_.end()) {
      seen.changes = before->second.changes + (before->second.generation != one.generation ? 1 : 0);
    }
    now.emplace(one.spec.name, seen);
  }
  seen_ = std::move(now);
}

std::map<std::string, std::uint64_t> GenerationWatch::changes() const {
  std::map<std::string, std::uint64_t> changes;
  for (const auto& [name, seen] : seen_) changes.emplace(name, seen.changes);
  return changes;
}

}  // namespace rdmablk::target
