#pragma once

#include <string>
#include <vector>

#include "target/options.h"

namespace rdmablk::target {

/// What looking at one thing that the options name has shown.
struct Finding {
  enum class Kind { fine, note, problem };

  Kind kind = Kind::fine;
  std::string text;  ///< one line
};

/// Looks whether this process may do what the options ask for: the files of exports in the mode
/// that they are served in, the places of saved memory and of state, the keys, the addresses.
/// Makes, changes and locks nothing.
std::vector<Finding> look_at_places(const Options& options);

/// What --check-config does: reads the options, looks at the places that they name, and prints what
/// it has found, problems to standard error.
/// @return the exit status: kExitDone, kExitFailed when a place is not fit, kExitUsage when the
/// options make no sense.
int check_configuration(const std::string& program, int argc, const char* const* argv,
                        const Invocation& invocation);

}  // namespace rdmablk::target
