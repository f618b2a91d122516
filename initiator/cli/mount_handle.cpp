#include "initiator/cli/mount_handle.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

[[noreturn]] void fail(const char* doing, const std::string& path, int error) {
  std::string why = errno_text(error);
  if (error == ENOTCONN || error == ECONNABORTED) {
    why = "its rdmablk-fuse has died; `rdmablk unmount` clears it away";
  } else if (error == EACCES || error == EPERM) {
    why = "it takes root, or the user who mounted it";
  } else if (error == ENOTTY) {
    why = "its rdmablk-fuse is of another version";
  }
  throw Error(fmt::format("cannot {} of '{}': {}", doing, path, why));
}

}  // namespace

MountHandle::MountHandle(const MountEntry& mount)
    : path_(mount.path),
      fd_(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)) {
  if (!fd_) fail("get at the timeouts", path_, errno);
}

void MountHandle::call(unsigned command, void* argument, const char* doing) const {
  if (::ioctl(fd_.get(), command, argument) != 0) fail(doing, path_, errno);
}

mount_control::Status MountHandle::status() const {
  mount_control::Status status{};
  call(mount_control::kGetStatus, &status, "read the timeouts");
  status.reason[mount_control::Status::kReasonSize - 1] = '\0';
  status.last_error[mount_control::Status::kReasonSize - 1] = '\0';
  return status;
}

void MountHandle::set(const mount_control::Change& change) const {
  mount_control::Change copy = change;
  call(mount_control::kSetTimes, &copy, "set the timeouts");
}

}  // namespace rdmablk::cli
