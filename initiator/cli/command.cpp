#include "initiator/cli/command.h"

#include <CLI/CLI.hpp>

#include "common/log.h"

namespace rdmablk::cli {

Command::Command(CLI::App& parent, const std::string& name, const std::string& description)
    : arguments_(parent.add_subcommand(name, description)) {}

bool Command::chosen() const {
  return arguments_->parsed();
}

void Command::add_json_option() {
  arguments_->add_flag("--json", json_, "print JSON on standard output");
}

void Command::add_timeout_option() {
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

void Command::start_log() const {
  start_logging("rdmablk", log_level_);
}

}  // namespace rdmablk::cli
