#include "target/config_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "common/error.h"
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

/// @return an errno value.
int write_file(const std::string& path, std::string_view text) {
  ::unlink(path.c_str());
  const UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!fd) return errno;
  while (!text.empty()) {
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd.get()) == 0 ? 0 : errno;
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
  const std::string temporary = fmt::format("{}/.{}.new", directory_, spec.name);
  int error = write_file(temporary, text);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    throw SystemError(fmt::format("write {}", path), error);
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
