#pragma once

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk mount`: becomes rdmablk-fuse, with the same arguments.
class MountCommand final : public Command {
 public:
  explicit MountCommand(CLI::App& parent);
  int run() override;
};

}  // namespace rdmablk::cli
