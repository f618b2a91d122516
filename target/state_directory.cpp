#include "target/state_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "common/error.h"
#include "common/file_replacement.h"

namespace rdmablk::target {
namespace {

/// More than any file of ours has.
constexpr std::size_t kMaxContent = std::size_t{64} << 10;

constexpr const char* kRemedy = "choose another directory with --state-dir";

/// Makes the directories above, too; those get the usual mode.
void make(const std::string& path) {
  std::error_code error;
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error || (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)) {
    throw Error(fmt::format("cannot make the state directory '{}': {}; {}", path,
                            errno_text(error ? error.value() : errno), kRemedy));
  }
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string default_state_directory() {
  // The manager may name several, the first of which is the main one.
  const std::string given = variable("STATE_DIRECTORY");
  if (!given.empty()) return given.substr(0, given.find(':'));
  if (::geteuid() == 0) return kServiceStateDirectory;
  if (const auto base = variable("XDG_STATE_HOME"); !base.empty()) return base + "/rdmablk";
  const auto home = variable("HOME");
  if (!home.empty()) return home + "/.local/state/rdmablk";
  throw Error(
      fmt::format("there is no place for the state of exports, as HOME is not set; {}", kRemedy));
}

/// Whoever could write there could have exports taken for what they are not.
void check_state_directory(int fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    throw SystemError(fmt::format("look at the state directory '{}'", path), errno);
  }
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    throw Error(fmt::format(
        "the state directory '{}' belongs to user {}, who could change what it keeps: chown it to "
        "the user that runs the target, or {}",
        path, status.st_uid, kRemedy));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    throw Error(fmt::format(
        "the state directory '{}' may be written by others than its owner (mode {:04o}): "
        "chmod go-w '{}', or {}",
        path, status.st_mode & 07777U, path, kRemedy));
  }
}

StateDirectory::StateDirectory(std::string path) : path_(std::move(path)) {
  while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
  make(path_);
  directory_.reset(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) {
    throw Error(fmt::format("cannot use the state directory '{}': {}; {}", path_, errno_text(errno),
                            kRemedy));
  }
  check_state_directory(directory_.get(), path_);
}

std::optional<std::string> StateDirectory::read(const std::string& name) const {
  const UniqueFd fd(
      ::openat(directory_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return std::nullopt;
  const auto fail = [&](int error) {
    throw SystemError(fmt::format("read {}/{}", path_, name), error);
  };
  if (!fd) fail(errno);
  std::string content;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(errno);
    if (got == 0) return content;
    content.append(buffer.data(), static_cast<std::size_t>(got));
    if (content.size() > kMaxContent) fail(EFBIG);
  }
}

void StateDirectory::write(const std::string& name, std::string_view content) const {
  try {
    FileReplacement file(directory_.get(), name, name + ".new", S_IRUSR | S_IWUSR);
    file.write(content);
    file.sync();
    file.take_place();
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("write {}/{}", path_, name), error.error());
  }
  sync(name);
}

void StateDirectory::remove(const std::string& name) const {
  if (::unlinkat(directory_.get(), name.c_str(), 0) != 0 && errno != ENOENT) {
    throw SystemError(fmt::format("remove {}/{}", path_, name), errno);
  }
  sync(name);
}

void StateDirectory::sync(const std::string& name) const {
  if (::fsync(directory_.get()) != 0) {
    throw SystemError(fmt::format("flush the directory of {}/{}", path_, name), errno);
  }
}

}  // namespace rdmablk::target
