#include "fuse/remount.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mount.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/error.h"
#include "common/mount_image.h"
#include "common/mount_table.h"
#include "common/unique_fd.h"
#include "fuse/generic_options.h"
#include "fuse/mount_point.h"
#include "fuse/options.h"

namespace rdmablk::fuse {
namespace {

/// Options that only a new mount gets.
struct Wanted {
  unsigned long flags = MS_NOSUID | MS_NODEV;  ///< mounts always have these
  bool is_read_only = false;
  std::vector<std::string> others;
};

std::string name_of(const std::string& word) {
  return word.substr(0, word.find('='));
}

Wanted read(const HelperCall& call) {
  Wanted wanted;
  MountOptions known;
  known.is_sloppy = call.is_sloppy;
  for (const std::string& text : call.options) {
    for (const std::string& word : split_mount_options(text)) {
      const std::string name = name_of(word);
      const bool has_value = name.size() != word.size();
      if (name == "remount" || is_shown_by_kernel(name)) continue;
      if (word != "fsname=" + call.source) known.parse(word);  // what is unknown is refused
      wanted.flags |= mount_flag(name);
      if (name == "ro" || name == "rw") continue;
      const bool is_own = !word.empty() && generic_option(name, has_value) == GenericOption::none;
      if (is_own) wanted.others.push_back(name);
    }
  }
  wanted.is_read_only = known.read_only;
  return wanted;
}

std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  if (!real) throw SystemError(fmt::format("examine mount point {}", path), errno);
  return real.get();
}

/// The right to write is asked for when the export is attached.
void expect_writable(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  mount_image::Image image{};
  if (!fd || ::ioctl(fd.get(), mount_image::kGetImage, &image) != 0) {
    throw SystemError(fmt::format("ask the mount on {} whether it may write", path), errno);
  }
  if (image.read_only != 0) {
    throw Error(fmt::format(
        "cannot make {} writable: it was mounted to be read alone; unmount it, and mount it anew",
        path));
  }
}

void change(const std::string& path, const Wanted& wanted) {
  const unsigned long flags =
      MS_REMOUNT | wanted.flags | (wanted.is_read_only ? static_cast<unsigned long>(MS_RDONLY) : 0);
  if (::mount("none", path.c_str(), nullptr, flags, nullptr) == 0) return;
  if (errno == EBUSY) {
    throw Error(fmt::format(
        "cannot make {} read-only: something has it open for writing (a loop device, too)", path));
  }
  throw SystemError(fmt::format("change the mount on {}", path), errno);
}

}  // namespace

std::string remount(const HelperCall& call) {
  const Wanted wanted = read(call);
  const std::string path = resolved(call.mount_point);
  const auto mount = mounted_at(path);
  if (!mount || mount->type != kMountType) {
    throw Error(fmt::format("cannot change the mount on {}: no export is mounted there", path));
  }
  if (!wanted.is_read_only) expect_writable(path);
  if (!call.is_fake) change(path, wanted);
  if (wanted.others.empty()) return {};
  return fmt::format(
      "{}: remount changes ro, rw and the kernel's options; {} stay as they were until it is "
      "mounted anew",
      path, fmt::join(wanted.others, ", "));
}

}  // namespace rdmablk::fuse
