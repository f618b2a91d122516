#pragma once

#include <string>

#include "common/mount_control.h"
#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk timeouts`: shows, and changes, what a live mount does while its target is away.
class TimeoutsCommand final : public Command {
 public:
  explicit TimeoutsCommand(CLI::App& parent);
  int run() override;

 private:
  mount_control::Change change() const;

  std::string mount_point_;
  std::string reconnect_delay_;
  std::string fail_fast_;
  std::string give_up_;
};

}  // namespace rdmablk::cli
