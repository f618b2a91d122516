#include <fmt/format.h>

#include <algorithm>

#include "common/units.h"
#include "initiator/doctor/checks.h"

namespace rdmablk::doctor {
namespace {

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20U;

/// What a mount locks when nothing else is asked for: workers x queue depth x about 1 MiB.
constexpr unsigned kMostWorkers = 4;
constexpr unsigned kMountDepth = 32;

/// The fewest requests that a mount gets along with.
constexpr std::uint64_t kFewestSlots = 4;

Finding check_memlock(const Host& host) {
  const std::string check = "memlock";
  const unsigned workers = std::clamp(host.cores, 1U, kMostWorkers);
  const std::uint64_t wanted = std::uint64_t{workers} * kMountDepth * kMebibyte;
  if (host.memlock_limit == UINT64_MAX) return good(check, "no limit of locked memory");
  const std::string needs = fmt::format(
      "{} may be locked; a mount wants {} and takes what it gets, an export twice its size",
      format_size(host.memlock_limit), format_size(wanted));
  const std::string advice = fmt::format(
      "raise it: `ulimit -l {}` in the shell (hard limit: /etc/security/limits.conf, memlock), "
      "LimitMEMLOCK=infinity in a systemd unit, --ulimit memlock=-1 for a container",
      wanted / 1024);
  if (host.memlock_limit < kFewestSlots * kMebibyte) return failure(check, needs, advice);
  if (host.memlock_limit < wanted) return warning(check, needs, advice);
  return good(check, needs);
}

/// "2048kB" of "hugepages-2048kB", in bytes.
std::optional<std::uint64_t> page_bytes(std::string_view name) {
  constexpr std::string_view kPrefix = "hugepages-";
  constexpr std::string_view kSuffix = "kB";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(kSuffix.size());
  const auto kibibytes = parse_number(name, UINT32_MAX);
  if (!kibibytes) return std::nullopt;
  return *kibibytes * 1024;
}

Finding check_huge_pages(const Host& host) {
  const std::string check = "huge pages";
  const std::string folder = "/sys/kernel/mm/hugepages";
  std::string text;
  for (const std::string& name : host.names_in(folder)) {
    const auto size = page_bytes(name);
    if (!size) continue;
    const auto total = host.read(fmt::format("{}/{}/nr_hugepages", folder, name)).value_or("0");
    const auto free = host.read(fmt::format("{}/{}/free_hugepages", folder, name)).value_or("0");
    if (total == "0") continue;
    text += fmt::format("{}{} of {} free, of {} each", text.empty() ? "" : "; ", free, total,
                        format_size(*size));
  }
  if (!text.empty()) return good(check, text);
  return skipped(check, "none are reserved; exports with huge= need them (vm.nr_hugepages)");
}

}  // namespace

void check_memory(const Host& host, Findings& findings) {
  findings.push_back(check_memlock(host));
  findings.push_back(check_huge_pages(host));
}

}  // namespace rdmablk::doctor
