#include "target/machine_memory.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Memory of a machine for people: nobody wants to read its odd kilobytes.
std::string in_round_numbers(std::uint64_t bytes) {
  return format_size(bytes < kMiB ? bytes : bytes / kMiB * kMiB);
}

std::uint64_t read_number(const std::string& path) {
  std::uint64_t value = 0;
  std::ifstream(path) >> value;
  return value;
}

}  // namespace

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

void check_memory(const std::vector<ExportSpec>& specs, const MachineMemory& memory) {
  std::uint64_t sum = 0;
  for (const ExportSpec& spec : specs) {
    if (spec.kind == protocol::ExportKind::file) continue;
    if (spec.size > memory.total) {
      throw Error(
          fmt::format("export '{}' is to have {}, which is more than the {} of memory of "
                      "this machine",
                      spec.name, format_size(spec.size), in_round_numbers(memory.total)));
    }
    if (spec.huge_page == 0) sum += spec.size;
    if (sum > memory.available) {
      throw Error(fmt::format(
          "the exports up to '{}' take {} of memory, and only {} of this machine's {} are free",
          spec.name, format_size(sum), in_round_numbers(memory.available),
          in_round_numbers(memory.total)));
    }
  }
}

HugePagePool read_huge_page_pool(std::uint64_t page, const MachineMemory& memory) {
  const std::string directory =
      fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB/", page / 1024);
  const std::uint64_t free_pages = read_number(directory + "free_hugepages");
  const std::uint64_t reserved = read_number(directory + "resv_hugepages");
  return {page, free_pages > reserved ? free_pages - reserved : 0,
          page == memory.huge_page ? "/proc/sys/vm/nr_hugepages" : directory + "nr_hugepages"};
}

}  // namespace rdmablk::target
