#include "target/known_size.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include "common/units.h"
#include "target/file_fingerprint.h"
#include "target/stored_identity.h"

namespace rdmablk::target {
namespace {

std::optional<std::uint64_t> configured_size(const ExportSpec& spec) {
  return spec.has_file() ? spec.file_size : std::optional(spec.size);
}

}  // namespace

std::optional<std::uint64_t> known_size(const ExportSpec& spec, const StateDirectory* state) {
  const std::string& path = spec.has_file() ? spec.path : spec.save;
  const auto wanted = configured_size(spec);
  struct stat status {};
  if (state == nullptr || path.empty() || !wanted || ::stat(path.c_str(), &status) != 0) return {};
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size == *wanted) return {};
  const FileFingerprint file = fingerprint_of(path);
  if (!StoredIdentity::was_resized_to(*state, file.file_name(), file.incarnation, size)) return {};
  return size;
}

std::string describe_known_size(const ExportSpec& spec, std::uint64_t size) {
  return fmt::format(
      "export '{}': it was resized to {} while it was served, as {} shows, and stays so; it is "
      "configured with {}: resize it, or change what it is configured with",
      spec.name, format_size(size), spec.has_file() ? spec.path : spec.save,
      format_size(configured_size(spec).value_or(0)));
}

void set_known_size(ExportSpec& spec, std::uint64_t size) {
  if (spec.has_file()) {
    spec.file_size = size;
  } else {
    spec.size = size;
  }
}

void adopt_known_size(ExportSpec& spec, const StateDirectory* state) {
  const auto size = known_size(spec, state);
  if (!size) return;
  spdlog::warn("{}", describe_known_size(spec, *size));
  set_known_size(spec, *size);
}

}  // namespace rdmablk::target
