#pragma once

#include <string>

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk unmount`: takes a mount away, also one whose daemon is dead.
class UnmountCommand final : public Command {
 public:
  explicit UnmountCommand(CLI::App& parent);
  int run() override;

 private:
  std::string mount_point_;
  bool lazy_ = false;
  bool force_ = false;
};

}  // namespace rdmablk::cli
