#pragma once

#include <string>

#include "initiator/cli/command.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// One of the commands that ask the target on this machine, or tell it what to do.
class AdminCommand : public Command {
 protected:
  /// For what is answered at once, and what takes as long as it takes, in seconds.
  static constexpr const char* kShort = "5";
  static constexpr const char* kLong = "600";

  /// @param timeout the usual one.
  AdminCommand(CLI::App& parent, const std::string& name, const std::string& description,
               const char* timeout);

  /// Asks, and waits for the reply.
  /// @param doing for messages: "list the exports". Throws UsageError, Error.
  Json ask(Json request, const std::string& doing) const;

  /// Has a change made. Prints nothing, but with --json the request and that it is done.
  /// @param request with its name, "request". Throws as ask().
  /// @return the exit status.
  int change(const Json& request, const std::string& doing) const;

 private:
  std::string socket_;
};

}  // namespace rdmablk::cli
