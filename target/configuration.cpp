#include "target/configuration.h"

#include <fmt/format.h>

#include <algorithm>

#include "target/config_export.h"
#include "target/config_files.h"
#include "target/config_keys.h"

namespace rdmablk::target {
namespace {

/// Stands for all exports, which have tables in place of --export.
constexpr std::string_view kExport = "export";

}  // namespace

void Configuration::apply(CLI::App& app, OptionDraft& draft,
                          const std::vector<ExportSpec>& command_line) {
  for (const ExportSpec& spec : command_line) {
    export_places_[spec.name] = {"the command line", 0, 0};
  }
  apply_file(app, path_);
  for (const std::string& file : list_drop_ins(path_, complaints_)) apply_file(app, file);
  complaints_.raise();
  draft.options.exports = std::move(exports_);
}

void Configuration::apply_file(CLI::App& app, const std::string& file) {
  const std::string text = read_config_file(file, complaints_);
  std::vector<ConfigEntry> entries;
  try {
    entries = parse_config_text(text, file);
  } catch (const ConfigError& error) {
    return complaints_.add(error);
  }
  for (const ConfigEntry& entry : entries) {
    if (entry.key == kExport) {
      apply_exports(entry);
    } else if (apply_key(app, entry, complaints_)) {
      places_[entry.key] = entry.place;
    }
  }
}

void Configuration::apply_exports(const ConfigEntry& table) {
  if (table.value.kind != ConfigValue::Kind::table) {
    return complaints_.add(
        table.value_place,
        fmt::format("export is {}: each export is a table, [export.NAME]", table.value.type));
  }
  for (const ConfigEntry& entry : table.value.entries) add_export(entry);
}

void Configuration::add_export(const ConfigEntry& entry) {
  auto spec = read_export(entry, complaints_);
  const auto [found, is_first] = export_places_.emplace(entry.key, entry.place);
  if (!is_first) {
    return complaints_.add(entry.place, fmt::format("export '{}' is defined already, by {}",
                                                    entry.key, found->second.text()));
  }
  if (spec) exports_.push_back(std::move(*spec));
}

Options Configuration::finish(const CLI::App& app, OptionDraft draft) const {
  try {
    return target::finish(std::move(draft));
  } catch (const UsageError& error) {
    const std::string text = error.what();
    const auto found = std::find_if(places_.begin(), places_.end(), [&](const auto& place) {
      return text.starts_with(option_name(place.first) + " ");
    });
    const bool is_found = found != places_.end();
    Complaints complaints;
    complaints.add(is_found ? found->second : ConfigPlace{path_, 0, 0},
                   is_found ? in_words_of_keys(app, text) : text);
    complaints.raise();
    throw;  // not reached
  }
}

}  // namespace rdmablk::target
