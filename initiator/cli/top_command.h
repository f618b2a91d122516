#pragma once

#include <chrono>
#include <string>

#include "initiator/cli/admin_command.h"
#include "initiator/cli/top_sample.h"

namespace rdmablk::cli {

/// `rdmablk top`: what the exports and the mounts of this machine do, again and again.
class TopCommand final : public AdminCommand {
 public:
  explicit TopCommand(CLI::App& parent);
  int run() override;

 private:
  TopSample sample() const;
  std::chrono::milliseconds interval() const;

  std::string delay_ = "2";
  bool once_ = false;
};

}  // namespace rdmablk::cli
