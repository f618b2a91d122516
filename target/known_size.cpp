#include "target/known_size.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "common/units.h"
#include "target/file_fingerprint.h"
#include "target/stored_identity.h"

namespace rdmablk::target {

void adopt_known_size(ExportSpec& spec, const StateDirectory* state) {
  const std::string& path = spec.has_file() ? spec.path : spec.save;
  const auto wanted = spec.has_file() ? spec.file_size : std::optional(spec.size);
  struct stat status {};
  if (state == nullptr || path.empty() || !wanted || ::stat(path.c_str(), &status) != 0) return;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size == *wanted) return;
  const FileFingerprint file = fingerprint_of(path);
  if (!StoredIdentity::was_resized_to(*state, file.file_name(), file.incarnation, size)) return;
  spdlog::warn(
      "export '{}': it was resized to {} while it was served, as {} shows, and stays so; it is "
      "configured with {}: resize it, or change what it is configured with",
      spec.name, format_size(size), path, format_size(*wanted));
  if (spec.has_file()) {
    spec.file_size = size;
  } else {
    spec.size = size;
  }
}

}  // namespace rdmablk::target
