#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "target/access_rules.h"
#include "target/export_spec.h"

namespace rdmablk::target {

/// An export that is served while the configuration is read again.
struct RunningExport {
  ExportSpec spec;                          ///< with the size that is offered, and who asked for it
  bool holds_data = false;                  ///< see Export::holds_data()
  std::optional<std::uint64_t> own_size{};  ///< see Export::size_of_its_own()
};

/// What brings the running exports to what the configuration asks for.
struct ReloadPlan {
  struct Removal {
    std::string name;
    bool discard = false;  ///< what its memory holds may go
  };
  struct Resize {
    std::string name;
    std::uint64_t size = 0;  ///< bytes
  };
  struct RulesChange {
    std::string name;
    AccessRules rules;
  };
  struct Adoption {
    std::string name;
    ExportOrigin origin{};
  };

  std::vector<ExportSpec> add;
  std::vector<Removal> remove;
  std::vector<Resize> resize;
  std::vector<RulesChange> rules;
  std::vector<Adoption> adopt;       ///< that are as they should be, but for who asks for them
  std::vector<std::string> refused;  ///< what cannot be done, and why, a line each

  /// Whether nothing is to be done.
  bool empty() const noexcept;
};

/// Compares what runs with what is wanted. What an administrator added for this run alone is left
/// alone unless it is wanted, too.
/// @param wanted all exports of the command line and the configuration, with who asks for them.
/// @param discards those whose data may go with them.
ReloadPlan plan_reload(std::span<const RunningExport> running, std::span<const ExportSpec> wanted,
                       std::span<const std::string> discards);

}  // namespace rdmablk::target
