#pragma once

#include "initiator/cli/admin_command.h"

namespace rdmablk::cli {

/// `rdmablk status`: how the target on this machine is doing.
class StatusCommand final : public AdminCommand {
 public:
  explicit StatusCommand(CLI::App& parent);
  int run() override;
};

}  // namespace rdmablk::cli
