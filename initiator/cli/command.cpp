#include "initiator/cli/command.h"

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/log.h"

namespace rdmablk::cli {

void add_version_option(CLI::App& app) {
  app.set_version_flag("--version", "rdmablk " RDMABLK_VERSION);
  app.get_option("--version")->description("print the version and exit");
}

Command::Command(CLI::App& parent, const std::string& name, const std::string& description)
    : arguments_(parent.add_subcommand(name, description)) {
  add_version_option(*arguments_);
}

bool Command::chosen() const {
  return arguments_->parsed();
}

void Command::add_json_option() {
  arguments_->add_flag("--json", json_, "print JSON on standard output");
}

void Command::add_timeout_option(const char* usual) {
  timeout_ = usual;
  arguments_->add_option("--timeout", timeout_, "how long all of it may take")
      ->type_name("SECONDS")
      ->capture_default_str();
}

void Command::add_log_level_option() {
  arguments_
      ->add_option("--log-level", log_level_,
                   "what to log on standard error: trace, debug, info, warning or error")
      ->type_name("LEVEL")
      ->capture_default_str();
}

void Command::add_credential_options() {
  arguments_
      ->add_option("--keyfile", key_file_,
                   "the key that proves to the target who this is, and that it is the target; made "
                   "by `rdmablk keygen`")
      ->type_name("FILE");
  arguments_
      ->add_option("--client", client_,
                   "who this is; default: the name in the key file, or else that of this host "
                   "without its domain")
      ->type_name("NAME");
}

std::optional<initiator::Credentials> Command::credentials() const {
  if (!key_file_.empty()) return initiator::Credentials(key_file_, client_);
  if (client_.empty()) return std::nullopt;
  throw UsageError("--client says who this is; it needs --keyfile, which proves it");
}

void Command::add_connection_options() {
  initiator::describe_connection(*arguments_, connection_);
}

const initiator::ConnectionOptions& Command::connection() const {
  connection_.check(cm::Spelling::command_line);
  return connection_;
}

void Command::start_log() const {
  start_logging("rdmablk", log_level_);
}

}  // namespace rdmablk::cli
