#include "target/distinct_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <tuple>

#include "common/error.h"

namespace rdmablk::target {
namespace {

/// What two paths to one file have in common: the device's number, the file system's and the
/// file's, or where a missing file would be made.
using Identity = std::tuple<dev_t, dev_t, ino_t, std::string>;

Identity identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    std::error_code ignored;
    return {0, 0, 0, std::filesystem::weakly_canonical(path, ignored).string()};
  }
  if (S_ISBLK(status.st_mode)) return {status.st_rdev, 0, 0, {}};
  return {0, status.st_dev, status.st_ino, {}};
}

}  // namespace

void check_distinct_files(std::span<const ExportSpec> specs) {
  std::multimap<Identity, const ExportSpec*> seen;
  for (const ExportSpec& spec : specs) {
    const std::string& path = spec.has_file() ? spec.path : spec.save;
    if (path.empty()) continue;
    const auto identity = identity_of(path);
    const auto [begin, end] = seen.equal_range(identity);
    for (auto other = begin; other != end; ++other) {
      if (spec.read_only && other->second->read_only) continue;
      throw UsageError(
          fmt::format("the exports '{}' and '{}' are of one file, '{}': only read-only exports may "
                      "share one{}",
                      other->second->name, spec.name, path,
                      spec.save.empty() ? "" : "; give each save= a file of its own"));
    }
    seen.emplace(identity, &spec);
  }
}

}  // namespace rdmablk::target
