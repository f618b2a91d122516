#include "tests/scale/process_figures.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "common/error.h"

namespace rdmablk::scale {
namespace {

std::string folder_of(pid_t pid, const char* name) {
  return fmt::format("/proc/{}/{}", pid, name);
}

std::int64_t count_entries(const std::string& folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  if (error) throw Error(fmt::format("cannot read {}: {}", folder, error.message()));
  return std::distance(begin(entries), end(entries));
}

/// "Rss:    1234 kB", as /proc/PID/smaps_rollup has it. @return bytes.
std::int64_t read_kilobytes(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::int64_t kilobytes = 0;
    if (word == name + ":" && file >> kilobytes) return kilobytes * 1024;
  }
  throw Error(fmt::format("there is no {} in {}", name, path));
}

}  // namespace

ProcessFigures figures_of(pid_t pid) {
  const std::string memory = folder_of(pid, "smaps_rollup");
  return {read_kilobytes(memory, "Rss"), read_kilobytes(memory, "Pss"),
          count_entries(folder_of(pid, "fd")), count_entries(folder_of(pid, "task"))};
}

std::chrono::nanoseconds cpu_time_of(pid_t pid) {
  std::chrono::nanoseconds sum{0};
  for (const auto& task : std::filesystem::directory_iterator(folder_of(pid, "task"))) {
    std::ifstream file(task.path() / "schedstat");
    std::int64_t on_cpu = 0;
    if (file >> on_cpu) sum += std::chrono::nanoseconds(on_cpu);
  }
  return sum;
}

}  // namespace rdmablk::scale
