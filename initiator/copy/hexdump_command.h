#pragma once

#include <string>

#include "initiator/cli/command.h"
#include "initiator/copy/range_options.h"

namespace rdmablk::copy {

/// `rdmablk hexdump`: prints the bytes of an export.
class HexdumpCommand final : public cli::Command {
 public:
  explicit HexdumpCommand(CLI::App& parent);
  int run() override;

 private:
  std::string uri_;
  bool all_lines_ = false;
  RangeOptions range_;
};

}  // namespace rdmablk::copy
