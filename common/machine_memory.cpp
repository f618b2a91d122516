#include "common/machine_memory.h"

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

}  // namespace

std::string in_round_numbers(std::uint64_t bytes) {
  return format_size(bytes < kMiB ? bytes : bytes / kMiB * kMiB);
}

MachineMemory read_machine_memory() {
  std::ifstream file("/proc/meminfo");
  if (!file) throw SystemError("read /proc/meminfo", errno);
  MachineMemory memory;
  std::string line;
  while (std::getline(file, line)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto key = line.substr(0, colon);
    const std::uint64_t bytes = std::strtoull(line.c_str() + colon + 1, nullptr, 10) * 1024;
    if (key == "MemTotal") memory.total = bytes;
    if (key == "MemAvailable") memory.available = bytes;
    if (key == "Hugepagesize") memory.huge_page = bytes;
  }
  return memory;
}

}  // namespace rdmablk
