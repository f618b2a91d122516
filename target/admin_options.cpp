#include "target/admin_options.h"

#include <CLI/CLI.hpp>

#include "common/error.h"

namespace rdmablk::target {

void AdminOptions::describe(CLI::App& app) {
  app.add_option("--admin-socket", socket,
                 "Where to listen for `rdmablk status`, `export`, `session` and `reload`; without "
                 "it target.sock in $RUNTIME_DIRECTORY, or in /run/rdmablk for root. none: nowhere")
      ->type_name("PATH|none");
  app.add_option("--admin-group", group,
                 "A group whose members may use that socket, which means everything that this "
                 "target can do; without it only its own user and root")
      ->type_name("GROUP");
}

void AdminOptions::check() const {
  if (socket != kNone || group.empty()) return;
  throw UsageError(
      "--admin-group says who may use the administration socket, and with "
      "--admin-socket none there is none");
}

}  // namespace rdmablk::target
