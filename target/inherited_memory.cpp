#include "target/inherited_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <algorithm>

#include "common/error.h"
#include "common/export_name.h"
#include "common/memory_mapping.h"
#include "common/units.h"
#include "target/file_fingerprint.h"

namespace rdmablk::target {
namespace {

constexpr std::string_view kMemory = "memory-";
constexpr std::string_view kRecord = "identity-";

/// What is wrong with a memfd that should hold an export's memory; empty: nothing.
std::string fault_of_memory(int fd, const MemoryRecord& record) {
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0) return "its memory is no memfd";
  if ((seals & F_SEAL_SHRINK) == 0) return "its memory is not sealed";
  struct stat status {};
  struct statfs system {};
  if (::fstat(fd, &status) != 0 || ::fstatfs(fd, &system) != 0) return "its memory is damaged";
  const std::uint64_t page =
      system.f_type == HUGETLBFS_MAGIC ? static_cast<std::uint64_t>(system.f_bsize) : 0;
  const std::uint64_t bytes = round_up(record.size, page != 0 ? page : page_size());
  if (page != record.huge_page || static_cast<std::uint64_t>(status.st_size) < bytes) {
    return "its memory is not what its identity says";
  }
  return {};
}

constexpr std::string_view kind_text(protocol::ExportKind kind) {
  return kind == protocol::ExportKind::memory ? "memory" : "a resident file";
}

[[noreturn]] void refuse(const std::string& name, std::string_view why) {
  throw Error(fmt::format(
      "memory of export '{}' was kept, and cannot be served: {}; serve it as it was, or "
      "give --discard {} to let go of what it holds",
      name, why, name));
}

}  // namespace

std::string difference(const ExportSpec& spec, const MemoryRecord& record) {
  if (spec.kind == protocol::ExportKind::file || spec.kind != record.kind) {
    return fmt::format("it was {}, and is not now", kind_text(record.kind));
  }
  if (spec.has_file() && spec.read_only) return "it is read-only now";
  if (spec.has_file() && record.is_dirty &&
      record.backing != fingerprint_of(spec.path).derive_uuid({})) {
    return fmt::format("it belongs to another file than {}", spec.path);
  }
  // The size of a file shows when that is opened.
  if (!spec.has_file() && spec.size != record.size && !record.is_resized) {
    return fmt::format("it has {}, and the export is to have {}", format_size(record.size),
                       format_size(spec.size));
  }
  if (spec.huge_page != record.huge_page) {
    const auto pages = [](std::uint64_t page) {
      return page == 0 ? std::string("the usual pages") : "huge pages of " + format_size(page);
    };
    return fmt::format("it is of {}, and the export is to be of {}", pages(record.huge_page),
                       pages(spec.huge_page));
  }
  return {};
}

std::string memory_fd_name(const std::string& name) {
  return std::string(kMemory) + name;
}

std::string record_fd_name(const std::string& name) {
  return std::string(kRecord) + name;
}

void InheritedMemory::add(std::string_view name, UniqueFd fd, bool in_store) {
  const bool is_memory = name.starts_with(kMemory);
  const auto prefix = is_memory ? kMemory : kRecord;
  const auto exported = name.substr(std::min(name.size(), prefix.size()));
  if (!name.starts_with(prefix) || !is_export_name(exported)) {
    throw Error(
        fmt::format("a descriptor of the name '{}' was passed, which is of no use here", name));
  }
  Pair& pair = pairs_[std::string(exported)];
  UniqueFd& place = is_memory ? pair.memory : pair.record;
  if (place) throw Error(fmt::format("two descriptors of the name '{}' were passed", name));
  place = std::move(fd);
  pair.in_store = in_store;
}

bool InheritedMemory::discard(const std::string& name) {
  return pairs_.erase(name) > 0;
}

std::vector<std::string> InheritedMemory::check(std::span<const ExportSpec> specs) {
  std::vector<std::string> dropped;
  for (auto& entry : pairs_) {
    const std::string& name = entry.first;
    const auto found = std::find_if(specs.begin(), specs.end(),
                                    [&](const auto& spec) { return spec.name == name; });
    const MemoryRecord& record = checked_record(name, entry.second);
    const std::string why = found == specs.end() ? std::string("there is no such export now")
                                                 : difference(*found, record);
    if (why.empty()) continue;
    if (!is_expendable(record)) refuse(name, why);
    dropped.push_back(name);
  }
  for (const std::string& name : dropped) pairs_.erase(name);
  return dropped;
}

/// Throws Error when the memory and its record do not belong together, or are damaged.
const MemoryRecord& InheritedMemory::checked_record(const std::string& name, Pair& pair) {
  if (!pair.memory) refuse(name, "only its identity came back");
  if (!pair.checked) {
    if (!pair.record) refuse(name, "it came back without its identity");
    try {
      pair.checked.emplace(std::move(pair.record));
    } catch (const Error& error) {
      refuse(name, fmt::format("its identity {}", error.what()));
    }
  }
  const MemoryRecord& record = pair.checked->record();
  if (text_of(record.name) != name) {
    refuse(name, fmt::format("its identity is that of '{}'", text_of(record.name)));
  }
  if (const auto fault = fault_of_memory(pair.memory.get(), record); !fault.empty()) {
    refuse(name, fault);
  }
  return record;
}

std::optional<KeptMemory> InheritedMemory::take(const std::string& name) {
  auto found = pairs_.extract(name);
  if (found.empty()) return std::nullopt;
  Pair& pair = found.mapped();
  return KeptMemory{std::move(pair.memory), std::move(pair.checked.value()), pair.in_store};
}

}  // namespace rdmablk::target
