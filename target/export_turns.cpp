#include "target/export_turns.h"

#include <utility>

namespace rdmablk::target {

void ExportTurns::take(const Export& exported, std::function<void()> begin) {
  auto& turns = turns_[&exported];
  turns.push_back(std::move(begin));
  if (turns.size() > 1) return;
  const auto now = turns.front();  // may end its turn from within
  now();
}

void ExportTurns::end(const Export& exported) {
  const auto found = turns_.find(&exported);
  found->second.pop_front();
  if (found->second.empty()) {
    turns_.erase(found);
    return;
  }
  const auto next = found->second.front();
  next();
}

}  // namespace rdmablk::target
