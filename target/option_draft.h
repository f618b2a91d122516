#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/cm/setting_options.h"
#include "target/options.h"

namespace CLI {
class App;
}  // namespace CLI

namespace rdmablk::target {

/// The options of a target while they are read, from configuration files and the command line. Each
/// value is checked by itself as it comes.
struct OptionDraft {
  OptionDraft();

  Options options;  ///< its exports are those of the configuration
  std::vector<ExportSpec> command_line_exports;
  std::vector<cm::Method> methods{cm::default_method()};
  std::vector<std::string> listen;
  bool insecure = false;
  Invocation invocation;
};

/// Adds all options that there are to a command line that goes on to fill in a draft, or to let
/// configuration files do so.
/// @param draft outlives the parsing.
void describe_options(CLI::App& app, OptionDraft& draft);

/// Options of this group are no keys of the configuration: they are about one start.
inline constexpr const char* kCommandLineOnly = "For the command line alone";

/// Checks what depends on several options, and fills in what was not given. Throws UsageError.
Options finish(OptionDraft draft);

}  // namespace rdmablk::target
