#include "target/save_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "common/error.h"

namespace rdmablk::target {
namespace {

constexpr std::string_view kTemporary = ".rdmablk-new";

/// Whether an open file is the one at a path.
bool is_at(const std::string& path, int fd) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(fd, &ours) == 0 && ::stat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

[[noreturn]] void fail(const ExportSpec& spec, const std::string& why) {
  throw Error(fmt::format("cannot save export '{}' to {}: {}", spec.name, spec.save, why));
}

}  // namespace

SavePlace::SavePlace(std::string temporary, const ExportSpec& spec)
    : spec_(spec), temporary_(std::move(temporary)) {}

SavePlace::SavePlace(const ExportSpec& spec, std::chrono::milliseconds lock_wait)
    : SavePlace(beginning_of(spec.save), spec) {
  // From here on the destructor cleans up what a failure leaves.
  const Patience patience(lock_wait);
  do {
    remove_left_over(patience);
    fd_.reset(open(O_CREAT | O_EXCL));
    // Whoever made it first may have done so just now.
    if (!fd_ && errno == EEXIST) continue;
    if (!fd_) fail(spec, fmt::format("cannot make {}: {}", temporary_, errno_text(errno)));
    lock(fd_.get(), temporary_, patience);
  } while (!fd_ || !is_at(temporary_, fd_.get()));
  hold(patience);
}

std::string SavePlace::beginning_of(const std::string& path) {
  return path + std::string(kTemporary);
}

SavePlace::~SavePlace() {
  if (fd_ && is_at(temporary_, fd_.get())) ::unlink(temporary_.c_str());
}

int SavePlace::open(int flags) const {
  return ::open(temporary_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags,
                S_IRUSR | S_IWUSR);
}

/// What lies there is never written to: others may have it open, or it is another name of a file.
void SavePlace::remove_left_over(const Patience& patience) const {
  const UniqueFd fd(open(0));
  if (!fd && errno == ENOENT) return;
  if (!fd) fail(spec_, fmt::format("cannot open {}: {}", temporary_, errno_text(errno)));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail(spec_, fmt::format("{} is in the way, and no regular file", temporary_));
  }
  lock(fd.get(), temporary_, patience);
  if (is_at(temporary_, fd.get())) ::unlink(temporary_.c_str());
}

/// Locks what is at PATH, if anything is: another target that exports it would go on with a file
/// that has no name any more.
void SavePlace::hold(const Patience& patience) {
  do {
    held_.reset(::open(spec_.save.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!held_ && errno == ENOENT) return;
    if (!held_) fail(spec_, fmt::format("cannot open it: {}", errno_text(errno)));
    lock(held_.get(), spec_.save, patience);
  } while (!is_at(spec_.save, held_.get()));
}

void SavePlace::lock(int fd, const std::string& path, const Patience& patience) const {
  switch (lock_file(fd, false, patience)) {
    case LockOutcome::locked:
      return;
    case LockOutcome::held:
      fail(spec_, fmt::format("another target or export saves to it, or is of it (lslocks shows "
                              "who has {}); give each a file of its own",
                              path));
    case LockOutcome::unsupported:
      fail(spec_, "its file system takes no locks, so that nothing keeps other targets away");
  }
}

void SavePlace::take_place() {
  // Somebody may have made it, or put another in its place, and exports that.
  if (!held_ || !is_at(spec_.save, held_.get())) hold(Patience({}));
  if (::fsync(fd_.get()) != 0) throw SystemError("flush", errno);
  if (::rename(temporary_.c_str(), spec_.save.c_str()) != 0) throw SystemError("rename", errno);
  fd_.reset();
  held_.reset();
  const auto parent = std::filesystem::path(spec_.save).parent_path();
  const UniqueFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.get()) != 0) {
    throw SystemError("flush the directory of", errno);
  }
}

}  // namespace rdmablk::target
