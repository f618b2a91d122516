#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/target/target_process.h"

namespace rdmablk::testing {

/// A target that resizes its exports when it is told to.
class CommandedTarget {
 public:
  /// @param arguments, port see TargetProcess.
  explicit CommandedTarget(const std::vector<std::string>& arguments, std::uint16_t port = 0)
      : process_(arguments, port, "rdmablk-commanded-target") {}

  TargetProcess& process() noexcept { return process_; }

  /// Begins to resize an export; answer() tells what became of it.
  void begin_resize(const std::string& name, std::uint64_t size) {
    process_.write_input("resize " + name + " " + std::to_string(size) + "\n");
  }

  /// "done", or why it was not, of the command that was not asked about yet.
  std::string answer(const std::string& name) {
    return process_.wait_for_line("resize " + name + ": ");
  }

  std::string resize(const std::string& name, std::uint64_t size) {
    begin_resize(name, size);
    return answer(name);
  }

 private:
  TargetProcess process_;
};

}  // namespace rdmablk::testing
