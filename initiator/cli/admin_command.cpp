#include "initiator/cli/admin_command.h"

#include <CLI/CLI.hpp>

#include "common/admin_path.h"
#include "common/error.h"
#include "initiator/cli/admin_client.h"

namespace rdmablk::cli {

AdminCommand::AdminCommand(CLI::App& parent, const std::string& name,
                           const std::string& description, const char* timeout)
    : Command(parent, name, description), socket_(kAdminSocketPath) {
  arguments()
      .add_option("--socket", socket_, "the target's --admin-socket")
      ->type_name("PATH")
      ->capture_default_str();
  add_timeout_option(timeout);
  add_json_option();
}

Json AdminCommand::ask(Json request, const std::string& doing) const {
  return AdminClient(socket_, doing, timeout()).ask(std::move(request));
}

int AdminCommand::change(const Json& request, const std::string& doing) const {
  ask(request, doing);
  if (wants_json()) {
    Json document = new_document();
    document.update(request);
    document["done"] = true;
    print_json(document);
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
