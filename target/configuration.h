#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "target/config_text.h"
#include "target/option_draft.h"

namespace rdmablk::target {

/// A configuration file and its drop-ins, while they are read. Used once, by one thread.
class Configuration {
 public:
  /// @param path of the file.
  explicit Configuration(std::string path) : path_(std::move(path)) {}

  /// Reads all files and sets what they say.
  /// @param app has the options (describe_options()), which write to `draft`.
  /// @param command_line what is exported besides. Throws ConfigError.
  void apply(CLI::App& app, OptionDraft& draft, const std::vector<ExportSpec>& command_line);

  /// finish(), with the place that a complaint is about. @param draft with the command line's
  /// options. Throws ConfigError.
  Options finish(const CLI::App& app, OptionDraft draft) const;

 private:
  void apply_file(CLI::App& app, const std::string& file);
  void apply_exports(const ConfigEntry& table);
  void add_export(const ConfigEntry& entry);

  std::string path_;
  Complaints complaints_;
  std::map<std::string, ConfigPlace> places_;  ///< of each option's last value
  std::map<std::string, ConfigPlace> export_places_;
  std::vector<ExportSpec> exports_;
};

}  // namespace rdmablk::target
