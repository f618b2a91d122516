#include "initiator/doctor/doctor_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "common/error.h"
#include "initiator/doctor/checks.h"
#include "initiator/doctor/doctor_report.h"
#include "initiator/doctor/target_checks.h"

namespace rdmablk::doctor {

DoctorCommand::DoctorCommand(CLI::App& parent)
    : Command(parent, "doctor", "check this host, and the way to a target, and say what to do") {
  arguments()
      .add_option("TARGET", target_, "HOST[:PORT] of a target; an IPv6 address in brackets")
      ->type_name("");
  add_timeout_option();
  add_json_option();
  add_credential_options();
  add_connection_options();
  add_log_level_option();
  arguments().footer(
      "Looks at RDMA devices, kernel modules, permissions, limits and FUSE, and with a TARGET "
      "goes\n"
      "the way there step by step; --timeout is for each of them. Changes nothing.\n"
      "\n"
      "Exit status: 0 no failure (there may be warnings), 1 a failure, 2 wrong usage.\n"
      "\n"
      "Examples:\n"
      "  rdmablk doctor\n"
      "  rdmablk doctor storage1 --keyfile alice.key\n"
      "  rdmablk doctor --json | jq '.checks[] | select(.verdict == \"failure\")'");
}

int DoctorCommand::run() {
  std::optional<HostPort> target;
  if (!target_.empty()) target = read_target(target_);
  TargetOptions options;
  options.timeout = timeout();
  options.credentials = credentials();
  options.connection = connection();
  initiator::SessionOptions session;
  options.connection.apply_to(session);
  options.paths = std::move(session.paths);
  options.connection.paths.clear();  // each is looked at by itself
  start_log();
  Findings findings = check_host(Host::look());
  if (target) {
    options.target = *target;
    check_target(options, findings);
  }
  if (wants_json()) {
    cli::print_json(doctor_json(target, findings));
  } else {
    fmt::print("{}", doctor_text(findings));
  }
  return is_well(findings) ? kExitDone : kExitFailed;
}

}  // namespace rdmablk::doctor
