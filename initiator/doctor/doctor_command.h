#pragma once

#include <string>

#include "initiator/cli/command.h"

namespace rdmablk::doctor {

/// `rdmablk doctor`: checks what this host, and the way to a target, need, and says what to do.
class DoctorCommand final : public cli::Command {
 public:
  explicit DoctorCommand(CLI::App& parent);
  int run() override;

 private:
  std::string target_;
};

}  // namespace rdmablk::doctor
