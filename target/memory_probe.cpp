#include "target/memory_probe.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "common/units.h"
#include "common/verbs/device_list.h"
#include "common/verbs/memory_region.h"
#include "target/machine_memory.h"
#include "target/memlock_budget.h"

namespace rdmablk::target {
namespace {

using Kind = Finding::Kind;

/// @param findings gets whether all of them have room. @return whether they could have.
bool look_at_size(const std::vector<ExportSpec>& specs, const MachineMemory& memory,
                  Findings& findings) {
  MachineMemory unused = memory;
  unused.available = memory.total;
  try {
    check_memory(specs, unused);
  } catch (const Error& error) {
    findings.add(Kind::problem, error.what());
    return false;
  }
  try {
    check_memory(specs, memory);
  } catch (const Error& error) {
    findings.add(Kind::note,
                 fmt::format("{}; what a target that runs has now counts, too", error.what()));
  }
  return true;
}

void look_at_huge_pages(const std::vector<ExportSpec>& specs, const MachineMemory& memory,
                        Findings& findings) {
  std::map<std::uint64_t, std::uint64_t> needed;  // pages, by their size
  for (const ExportSpec& spec : specs) {
    if (spec.huge_page == 0) continue;
    needed[spec.huge_page] += round_up(spec.size, spec.huge_page) / spec.huge_page;
  }
  for (const auto& [page, count] : needed) {
    if (!has_huge_pages(page)) {
      findings.add(Kind::problem,
                   fmt::format("this machine has no huge pages of {}", format_size(page)));
      continue;
    }
    const HugePagePool pool = read_huge_page_pool(page, memory);
    if (pool.free_pages >= count) continue;
    findings.add(Kind::note,
                 fmt::format("the exports take {} huge pages of {}, and {} are free, beside those "
                             "that a target that runs has; {} sets how many there are",
                             count, format_size(page), pool.free_pages, pool.file));
  }
}

/// The service has another limit than who checks its configuration.
void look_at_memlock(const std::vector<ExportSpec>& specs, Findings& findings) {
  const std::size_t devices = verbs::DeviceList().devices().size();
  try {
    check_memlock(specs, devices, verbs::memlock_limit());
  } catch (const Error& error) {
    findings.add(Kind::note,
                 fmt::format("with the limit of locked memory that this process has: {}; the "
                             "service has its own (LimitMEMLOCK=)",
                             error.what()));
  }
}

}  // namespace

void probe_memory(const std::vector<ExportSpec>& specs, Findings& findings) {
  const MachineMemory memory = read_machine_memory();
  if (!look_at_size(specs, memory, findings)) return;
  look_at_huge_pages(specs, memory, findings);
  look_at_memlock(specs, findings);
}

}  // namespace rdmablk::target
