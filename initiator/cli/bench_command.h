#pragma once

#include "initiator/cli/bench_options.h"
#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// `rdmablk bench`: measures an export.
class BenchCommand final : public Command {
 public:
  explicit BenchCommand(CLI::App& parent);
  int run() override;

 private:
  void add_option(const char* name, std::string& value, const char* type, const char* description);

  BenchArguments typed_;
};

}  // namespace rdmablk::cli
