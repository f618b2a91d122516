#pragma once

#include <functional>
#include <string>

#include "tests/softverbs/faults/with_faults.h"

namespace softverbs::test {

/// A plan of faults that a process reads from a file, and that changes, with its log.
class Plan {
 public:
  Plan() { set(""); }
  void set(const std::string& items) const;
  /// Puts outages into the plan, and waits until they are in the log as `told`.
  void change(const std::string& items, const std::string& told) const;
  /// Runs `body` in a process of its own with `devices` devices; see with_faults().
  void run(int devices, const std::function<void()>& body) const;

 private:
  ScratchFile file_;
  ScratchFile log_;
};

}  // namespace softverbs::test
