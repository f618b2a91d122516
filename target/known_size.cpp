#include "target/known_size.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "common/units.h"
#include "target/file_fingerprint.h"
#include "target/stored_identity.h"

namespace rdmablk::target {

std::optional<std::uint64_t> known_size(const ExportSpec& spec, const StateDirectory* state) {
  struct stat status {};
  if (state == nullptr || !spec.file_size || ::stat(spec.path.c_str(), &status) != 0) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size == *spec.file_size) return {};
  const FileFingerprint file = fingerprint_of(spec.path);
  if (!StoredIdentity::was_resized_to(*state, file.file_name(), file.incarnation, size)) return {};
  return size;
}

void adopt_known_size(ExportSpec& spec, const StateDirectory* state) {
  const auto size = known_size(spec, state);
  if (!size) return;
  spdlog::warn(
      "export '{}': {} was resized to {} while it was served, and stays so; size= says {}: resize "
      "it, or change that",
      spec.name, spec.path, format_size(*size), format_size(*spec.file_size));
  spec.file_size = *size;
}

}  // namespace rdmablk::target
