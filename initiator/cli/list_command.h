#pragma once

#include <string>

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk list`: lists the exports of a target.
class ListCommand final : public Command {
 public:
  explicit ListCommand(CLI::App& parent);
  int run() override;

 private:
  std::string target_;
};

}  // namespace rdmablk::cli
