#pragma once

#include <string>

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk info`: tells what an export is like.
class InfoCommand final : public Command {
 public:
  explicit InfoCommand(CLI::App& parent);
  int run() override;

 private:
  std::string uri_;
  bool size_only_ = false;
};

}  // namespace rdmablk::cli
