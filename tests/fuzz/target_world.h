#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "target/catalog.h"
#include "target/export.h"
#include "target/limits.h"
#include "target/slot_budget.h"
#include "target/state_directory.h"

namespace rdmablk::fuzz {

/// What a target offers on the scripted device: an export of each kind. Made once; files lie in
/// memory, and nothing is left behind.
class TargetWorld {
 public:
  static constexpr std::uint64_t kSize = std::uint64_t{64} << 10;  ///< of each export, in bytes
  static constexpr std::array kNames{"disk", "rom", "file", "file-rom", "kept", "lent", "nearby"};

  static const TargetWorld& get();

  /// What the rules of an export give, told once more. @param client empty: nobody knows.
  /// @param address "address:port".
  static std::optional<protocol::Access> may_have(std::string_view name, std::string_view client,
                                                  std::string_view address);

  TargetWorld();
  ~TargetWorld();
  TargetWorld(const TargetWorld&) = delete;
  TargetWorld& operator=(const TargetWorld&) = delete;

  const target::Catalog& catalog() const noexcept { return catalog_; }
  const target::Limits& limits() const noexcept { return limits_; }
  const target::SlotBudget& budget() const noexcept { return budget_; }

  /// The descriptors of the files, by their numbers.
  std::vector<int> files() const;

 private:
  void add(std::string_view text);
  void add_file(std::string_view name, std::string_view options);

  target::Limits limits_;
  std::string folder_;  ///< of what identifies the exports with a file
  std::unique_ptr<target::StateDirectory> state_;
  target::SlotBudget budget_;
  std::vector<UniqueFd> memory_;
  std::vector<std::unique_ptr<target::Export>> exports_;
  target::Catalog catalog_;
};

}  // namespace rdmablk::fuzz
