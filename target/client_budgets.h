#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "target/slot_budget.h"

namespace rdmablk::target {

/// What the sessions of one client may use of something, slot memory or I/O queues, for each
/// client. Control thread; shares may be given back by any.
class ClientBudgets {
 public:
  /// @param limit bytes, or queues, for each.
  explicit ClientBudgets(std::uint64_t limit) noexcept : limit_(limit) {}
  ClientBudgets(const ClientBudgets&) = delete;
  ClientBudgets& operator=(const ClientBudgets&) = delete;

  /// The budget of a client. Valid until the next call, longer while something is taken from it.
  /// @param account see SessionPeer::account().
  SlotBudget& of(const std::string& account);

  /// What each may use from now on, unless it is more already.
  void raise(std::uint64_t limit) noexcept;

  /// Those that are known: all that have something, and at times as many that have nothing.
  std::size_t size() const noexcept { return budgets_.size(); }

 private:
  void forget_unused(const std::string& except);

  std::uint64_t limit_;
  std::size_t crowd_ = 0;  ///< more than this, and it is time to look for those that have nothing
  std::map<std::string, SlotBudget> budgets_;
};

}  // namespace rdmablk::target
