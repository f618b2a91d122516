#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace rdmablk::target {

/// Where the administration socket is, and who may use it.
struct AdminOptions {
  static constexpr const char* kNone = "none";

  std::optional<std::string> socket;  ///< its path, or kNone; nothing: the usual place
  std::string group;                  ///< that may use it, beside the user; empty: none

  /// Adds the options to a command line, whose values come here.
  void describe(CLI::App& app);

  /// Throws UsageError for what contradicts itself.
  void check() const;
};

}  // namespace rdmablk::target
