#pragma once

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk devices`: lists the RDMA devices of this host; without any, fails and says how to get
/// one.
class DevicesCommand final : public Command {
 public:
  explicit DevicesCommand(CLI::App& parent);
  int run() override;

 private:
  bool verbose_ = false;
};

}  // namespace rdmablk::cli
