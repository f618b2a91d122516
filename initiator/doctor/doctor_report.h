#pragma once

#include <optional>
#include <string>

#include "common/uri.h"
#include "initiator/cli/json.h"
#include "initiator/doctor/finding.h"

namespace rdmablk::doctor {

/// Whether there is no failure.
bool is_well(const Findings& findings);

/// What was found for people: a line for each check, what to do on one below it, and a sum.
std::string doctor_text(const Findings& findings);

/// The same as `rdmablk doctor --json` prints it.
cli::Json doctor_json(const std::optional<HostPort>& target, const Findings& findings);

}  // namespace rdmablk::doctor
