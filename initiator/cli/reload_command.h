#pragma once

#include "initiator/cli/admin_command.h"

namespace rdmablk::cli {

/// `rdmablk reload`: has the target read its configuration and keys again.
class ReloadCommand final : public AdminCommand {
 public:
  explicit ReloadCommand(CLI::App& parent);
  int run() override;
};

}  // namespace rdmablk::cli
