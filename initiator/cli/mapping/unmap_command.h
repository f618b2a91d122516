#pragma once

#include <string>

#include "initiator/cli/command.h"
#include "initiator/cli/mapping/map_place.h"

namespace rdmablk::cli::mapping {

/// `rdmablk unmap`: takes a block device of an export away.
class UnmapCommand final : public Command {
 public:
  explicit UnmapCommand(CLI::App& parent);
  int run() override;

 private:
  MapRoots roots_;
  std::string what_;
  bool force_ = false;
  bool if_mapped_ = false;
};

}  // namespace rdmablk::cli::mapping
