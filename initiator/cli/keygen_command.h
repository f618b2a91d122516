#pragma once

#include <string>

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk keygen`: makes a key for a client and its target.
class KeygenCommand final : public Command {
 public:
  explicit KeygenCommand(CLI::App& parent);
  int run() override;

 private:
  std::string client_name_;
  std::string output_;
};

}  // namespace rdmablk::cli
