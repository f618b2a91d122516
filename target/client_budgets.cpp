#include "target/client_budgets.h"

namespace rdmablk::target {

SlotBudget& ClientBudgets::of(const std::string& account) {
  // Or every address that ever came would be known for ever.
  std::erase_if(budgets_, [&](const auto& entry) {
    return entry.second.used() == 0 && entry.first != account;
  });
  return budgets_.try_emplace(account, limit_).first->second;
}

}  // namespace rdmablk::target
