#include "target/config_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/error.h"
#include "common/file_replacement.h"
#include "common/unique_fd.h"
#include "target/config_files.h"
#include "target/config_writer.h"

namespace rdmablk::target {
namespace {

/// The first line of what this class writes.
constexpr std::string_view kMark =
    "# Written by rdmablk-target for `rdmablk export add`, and removed by `rdmablk export rm`.\n";

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0755;

/// @return nothing of a file that there is not.
std::optional<bool> has_mark(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd) throw SystemError(fmt::format("read {}", path), errno);
  std::string start(kMark.size(), '\0');
  const ssize_t size = ::read(fd.get(), start.data(), start.size());
  return size == static_cast<ssize_t>(kMark.size()) && start == kMark;
}

}  // namespace

ConfigStore::ConfigStore(const std::string& config) : directory_(drop_in_directory(config)) {}

void ConfigStore::keep(const ExportSpec& spec) {
  const std::string text = std::string(kMark) + export_text(spec);
  const std::string path = path_of(spec.name);
  if (!has_mark(path).value_or(true)) {
    throw Error(fmt::format("cannot keep export '{}' in {}: somebody else has written that file",
                            spec.name, path));
  }
  if (::mkdir(directory_.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    throw SystemError(fmt::format("make the directory {}", directory_), errno);
  }
  try {
    FileReplacement file(AT_FDCWD, path, fmt::format("{}/.{}.new", directory_, spec.name),
                         kFileMode);
    file.write(text);
    file.sync();
    file.take_place();
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("write {}", path), error.error());
  }
  sync();
}

void ConfigStore::forget(const std::string& name) {
  const std::string path = path_of(name);
  if (!keeps(name)) {
    throw Error(fmt::format("cannot remove {}: `rdmablk export add` has not made it", path));
  }
  if (::unlink(path.c_str()) != 0) throw SystemError(fmt::format("remove {}", path), errno);
  sync();
}

bool ConfigStore::keeps(const std::string& name) const {
  return has_mark(path_of(parse_export_name(name))).value_or(false);
}

void ConfigStore::sync() const {
  const UniqueFd fd(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) {
    throw SystemError(fmt::format("flush the directory {}", directory_), errno);
  }
}

}  // namespace rdmablk::target
