#pragma once

#include <string>

#include "initiator/cli/admin_command.h"

namespace rdmablk::cli {

/// `rdmablk session ls`: the sessions of the target on this machine.
class SessionListCommand final : public AdminCommand {
 public:
  explicit SessionListCommand(CLI::App& parent);
  int run() override;
};

/// `rdmablk session evict`: ends one of them.
class SessionEvictCommand final : public AdminCommand {
 public:
  explicit SessionEvictCommand(CLI::App& parent);
  int run() override;

 private:
  std::string session_;
  std::string reason_;
};

}  // namespace rdmablk::cli
