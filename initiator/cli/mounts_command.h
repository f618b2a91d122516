#pragma once

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk mounts`: the mounts of this machine, and how they are doing.
class MountsCommand final : public Command {
 public:
  explicit MountsCommand(CLI::App& parent);
  int run() override;
};

}  // namespace rdmablk::cli
