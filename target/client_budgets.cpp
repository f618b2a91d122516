#include "target/client_budgets.h"

#include <algorithm>

namespace rdmablk::target {

SlotBudget& ClientBudgets::of(const std::string& account) {
  if (budgets_.size() > crowd_) forget_unused(account);
  return budgets_.try_emplace(account, limit_).first->second;
}

void ClientBudgets::raise(std::uint64_t limit) noexcept {
  limit_ = std::max(limit_, limit);
  for (auto& [account, budget] : budgets_) budget.raise(limit_);
}

/// Or every address that ever came would be known for ever. Not at each call: those that have
/// something may be many.
void ClientBudgets::forget_unused(const std::string& except) {
  std::erase_if(budgets_, [&](const auto& entry) {
    return entry.second.used() == 0 && entry.first != except;
  });
  crowd_ = 2 * budgets_.size();
}

}  // namespace rdmablk::target
