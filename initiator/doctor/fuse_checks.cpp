#include <fmt/format.h>
#include <sys/stat.h>

#include <sstream>

#include "initiator/doctor/checks.h"

namespace rdmablk::doctor {
namespace {

Finding check_device_of_fuse(const Host& host) {
  const std::string check = "fuse";
  if (!host.has("/dev/fuse")) {
    return failure(check, "there is no /dev/fuse",
                   "load the module, as root: modprobe fuse; give a container the device "
                   "(--device=/dev/fuse) and CAP_SYS_ADMIN");
  }
  if (!host.may_use("/dev/fuse")) {
    return failure(check, "/dev/fuse may not be read and written",
                   "give it mode 0666, as udev's rules do");
  }
  return good(check, "/dev/fuse is there");
}

/// Where a program is on the search path; nothing: nowhere.
std::optional<std::filesystem::path> find_program(const Host& host, const std::string& name) {
  std::istringstream folders(host.search_path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (folder.starts_with('/') && host.has(folder + "/" + name)) {
      return host.at(folder + "/" + name);
    }
  }
  return std::nullopt;
}

Finding check_fusermount(const Host& host) {
  const std::string check = "fusermount3";
  const auto program = find_program(host, check);
  if (!program && host.is_root) {
    return skipped(check, "is not installed; root mounts without it");
  }
  if (!program) {
    return failure(check, "is not installed",
                   "install it, as others than root mount with it: "
                   "apt install fuse3");
  }
  struct stat status {};
  const bool is_setuid = ::stat(program->c_str(), &status) == 0 && (status.st_mode & S_ISUID) != 0;
  if (is_setuid || host.is_root) return good(check, program->string());
  return failure(check, fmt::format("{} is not setuid root", program->string()),
                 fmt::format("as root: chmod u+s {}", program->string()));
}

Finding check_allow_other(const Host& host) {
  const std::string check = "user_allow_other";
  std::istringstream lines(host.read("/etc/fuse.conf").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line == check) return good(check, "is set in /etc/fuse.conf");
  }
  if (host.is_root) return good(check, "is not set; root needs it not");
  return skipped(check,
                 "is not set in /etc/fuse.conf: what a user mounts, no other user can see "
                 "(-o allow_other)");
}

}  // namespace

void check_fuse(const Host& host, Findings& findings) {
  findings.push_back(check_device_of_fuse(host));
  findings.push_back(check_fusermount(host));
  findings.push_back(check_allow_other(host));
}

}  // namespace rdmablk::doctor
