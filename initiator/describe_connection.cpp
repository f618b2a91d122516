#include <CLI/CLI.hpp>

#include "initiator/connection_options.h"

namespace rdmablk::initiator {

void describe_connection(
    CLI::App& app,
    const std::function<void(std::string_view name, const std::string& value)>& take) {
  app.add_option_function<std::string>(
         "--cm", [take](const std::string& value) { take("cm", value); },
         "how to connect: by rdma_cm, which needs IP addresses on the RDMA network, or by TCP over "
         "any network, to the target's port 10813")
      ->type_name("rdmacm|tcp")
      ->default_str("rdmacm")
      ->group(cm::kSettingGroup);
  app.add_option_function<std::vector<std::string>>(
         "--path",
         [take](const std::vector<std::string>& values) {
           for (const std::string& value : values) take("path", value);
         },
         "one more address of the target, which is used beside that of the URI: may be given "
         "several times")
      ->type_name("HOST[:PORT]")
      ->allow_extra_args(false)
      ->group(cm::kSettingGroup);
  cm::describe_settings(app, take);
}

void describe_connection(CLI::App& app, ConnectionOptions& options) {
  describe_connection(app, [&options](std::string_view name, const std::string& value) {
    options.set(name, cm::Spelling::command_line, value);
  });
}

}  // namespace rdmablk::initiator
