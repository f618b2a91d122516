#include <dirent.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

/// The value of a field of /proc/self/task/TASK/status.
std::string status_field(const std::string& task, const std::string& name) {
  std::ifstream status("/proc/self/task/" + task + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":\t", 0) == 0) return line.substr(name.size() + 2);
  }
  return {};
}

std::vector<std::string> service_threads() {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc/self/task"), closedir);
  while (const dirent* entry = readdir(directory.get())) {
    if (status_field(entry->d_name, "Name") == "softverbs") found.emplace_back(entry->d_name);
  }
  return found;
}

TEST(ServiceThread, ThereIsOneAndItTakesNoSignals) {
  const Owned<ibv_context> context = open_device();
  const Owned<ibv_context> another = open_device();
  const Pair pair(context.get());
  const Pair pair_of_another(another.get());
  const auto threads = service_threads();
  ASSERT_EQ(threads.size(), 1U);
  // All but SIGKILL and SIGSTOP, and the two that the C library keeps for itself.
  EXPECT_EQ(status_field(threads[0], "SigBlk"), "fffffffe7ffbfeff");
}

}  // namespace
}  // namespace softverbs::test
