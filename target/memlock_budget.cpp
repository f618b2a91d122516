#include "target/memlock_budget.h"

#include <fmt/format.h>

#include "common/counted.h"
#include "common/memory_mapping.h"
#include "common/verbs/memory_region.h"
#include "target/registration.h"

namespace rdmablk::target {
namespace {

/// For the message buffers of some twenty sessions.
constexpr std::uint64_t kForSessions = std::uint64_t{2} << 20;

std::uint64_t pinned_once(const ExportSpec& spec) {
  if (spec.kind == protocol::ExportKind::file) return 0;  // slots come and go with queues
  const std::size_t page = page_size();
  return round_up(spec.size, page) +
         round_up(table_bytes(chunk_count(spec.size, spec.chunk)), page);
}

}  // namespace

std::uint64_t pinned_bytes(const std::vector<ExportSpec>& specs, std::size_t devices) {
  std::uint64_t sum = kForSessions;
  for (const ExportSpec& spec : specs) {
    sum += pinned_once(spec) * (spec.read_only ? 1U : 2U) * devices;
  }
  return sum;
}

void check_memlock(const std::vector<ExportSpec>& specs, std::size_t devices, std::uint64_t limit) {
  const std::uint64_t needed = pinned_bytes(specs, devices);
  if (needed <= limit) return;
  throw verbs::MemlockError(fmt::format("register {} with {}", counted(specs.size(), "export"),
                                        counted(devices, "RDMA device")),
                            needed);
}

}  // namespace rdmablk::target
