#include "target/machine_memory.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

std::uint64_t read_number(const std::string& path) {
  std::uint64_t value = 0;
  std::ifstream(path) >> value;
  return value;
}

std::string pool_directory(std::uint64_t page) {
  return fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB/", page / 1024);
}

}  // namespace

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

bool has_huge_pages(std::uint64_t page) {
  std::error_code ignored;
  return std::filesystem::exists(pool_directory(page), ignored);
}

HugePagePool read_huge_page_pool(std::uint64_t page, const MachineMemory& memory) {
  const std::string directory = pool_directory(page);
  const std::uint64_t free_pages = read_number(directory + "free_hugepages");
  const std::uint64_t reserved = read_number(directory + "resv_hugepages");
  return {page, free_pages > reserved ? free_pages - reserved : 0,
          page == memory.huge_page ? "/proc/sys/vm/nr_hugepages" : directory + "nr_hugepages"};
}

}  // namespace rdmablk::target
