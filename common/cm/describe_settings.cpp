#include <CLI/CLI.hpp>

#include "common/cm/setting_options.h"

namespace rdmablk::cm {

void describe_settings(
    CLI::App& app,
    const std::function<void(std::string_view name, const std::string& value)>& take) {
  for (const SettingOption& option : setting_options()) {
    app.add_option_function<std::string>(
           spelled(option.name, Spelling::command_line),
           [take, name = option.name](const std::string& value) { take(name, value); },
           option.description)
        ->type_name(option.type)
        ->group(kSettingGroup);
  }
}

}  // namespace rdmablk::cm
