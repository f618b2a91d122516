#include "common/mount_namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>

#include <cerrno>

#include "common/error.h"
#include "common/unique_fd.h"
#include "common/units.h"

namespace rdmablk {

void enter_mount_namespace(const std::string& name_space) {
  const bool is_process = parse_number(name_space, INT32_MAX).has_value();
  const std::string path = is_process ? fmt::format("/proc/{}/ns/mnt", name_space) : name_space;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::setns(fd.get(), CLONE_NEWNS) != 0) {
    throw SystemError(fmt::format("enter the mount namespace {}", name_space), errno);
  }
}

}  // namespace rdmablk
