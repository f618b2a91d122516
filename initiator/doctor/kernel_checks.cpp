#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <sstream>

#include "initiator/doctor/checks.h"

namespace rdmablk::doctor {
namespace {

constexpr const char* kIsSoftware = "the software device needs nothing of the kernel";

/// A module, and what shows that it is there when it is built into the kernel.
struct Module {
  const char* name;
  const char* sign;
};

constexpr std::array<Module, 2> kModules{
    {{"ib_uverbs", "/sys/class/infiniband_verbs"}, {"rdma_ucm", "/sys/class/misc/rdma_cm"}}};

/// The modules that drive the devices: "mlx5_core"; empty: not known.
std::string drivers(const Host& host) {
  std::string text;
  for (const auto& device : host.devices) {
    const auto link = host.at(fmt::format("/sys/class/infiniband/{}/device/driver", device.name));
    std::error_code error;
    const auto driver = std::filesystem::read_symlink(link, error);
    if (!error) text += fmt::format(", driver of {}: {}", device.name, driver.filename().string());
  }
  return text;
}

Finding check_modules(const Host& host) {
  const std::string check = "kernel modules";
  std::string missing;
  for (const Module& module : kModules) {
    const bool is_there =
        host.has(fmt::format("/sys/module/{}", module.name)) || host.has(module.sign);
    if (!is_there) missing += (missing.empty() ? "" : " ") + std::string(module.name);
  }
  if (missing.empty()) {
    return good(check, fmt::format("ib_uverbs and rdma_ucm are loaded{}", drivers(host)));
  }
  return failure(check, fmt::format("not loaded: {}", missing),
                 fmt::format("load them, as root: modprobe -a {}", missing));
}

Finding check_nodes(const Host& host) {
  const std::string check = "device nodes";
  const std::string folder = "/dev/infiniband";
  std::vector<std::string> wanted{"rdma_cm"};
  for (const std::string& name : host.names_in(folder)) {
    if (name.starts_with("uverbs")) wanted.push_back(name);
  }
  if (wanted.size() == 1 || !host.has(folder + "/rdma_cm")) {
    return failure(check,
                   fmt::format("{} has no {}", folder, wanted.size() == 1 ? "uverbsN" : "rdma_cm"),
                   "load the kernel modules ib_uverbs and rdma_ucm; give a container the devices "
                   "(--device=/dev/infiniband)");
  }
  for (const std::string& name : wanted) {
    if (host.may_use(folder + "/" + name)) continue;
    return failure(check, fmt::format("{}/{} may not be read and written", folder, name),
                   "run this as root, or give the file mode 0666, as udev's rules of rdma-core do");
  }
  return good(check, fmt::format("{} in {}", fmt::join(wanted, ", "), folder));
}

/// The path of this process's control group (cgroup v2); nothing: there is none.
std::optional<std::string> control_group(const Host& host) {
  const auto text = host.read("/proc/self/cgroup");
  if (!text) return std::nullopt;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::/")) return line.substr(3);
  }
  return std::nullopt;
}

Finding check_control_group(const Host& host) {
  const std::string check = "rdma control group";
  auto group = control_group(host);
  if (!group) return skipped(check, "this process is in no control group (v2)");
  std::filesystem::path path(*group);
  for (; path.has_relative_path(); path = path.parent_path()) {
    const auto limits = host.read(fmt::format("/sys/fs/cgroup{}/rdma.max", path.string()));
    if (!limits) continue;
    std::istringstream lines(*limits);
    for (std::string line; std::getline(lines, line);) {
      const bool is_free = line.find("hca_handle=max") != std::string::npos &&
                           line.find("hca_object=max") != std::string::npos;
      if (is_free) continue;
      return warning(check, fmt::format("{} limits RDMA: {}", path.string(), line),
                     "a mount takes a handful of objects (hca_object) for each queue and each "
                     "device, a target as many for each session: raise rdma.max if set-up fails");
    }
  }
  return good(check, "no limits");
}

/// "6.1.0-18-amd64" as a number to be compared: 6001.
unsigned version_number(const std::string& release) {
  char* end = nullptr;
  const unsigned long major = std::strtoul(release.c_str(), &end, 10);
  const unsigned long minor = *end == '.' ? std::strtoul(end + 1, nullptr, 10) : 0;
  return static_cast<unsigned>(major * 1000 + minor);
}

Finding check_io_uring(const Host& host) {
  const std::string check = "io_uring";
  const std::string release = host.read("/proc/sys/kernel/osrelease").value_or("");
  const std::string kernel = release.empty() ? "" : fmt::format(" (Linux {})", release);
  if (!host.io_uring_error.empty()) {
    const auto disabled = host.read("/proc/sys/kernel/io_uring_disabled").value_or("0");
    return warning(check, host.io_uring_error + kernel,
                   disabled == "0"
                       ? "a container needs a seccomp profile that allows io_uring; targets use it "
                         "for files, and `rdmablk copy` does"
                       : fmt::format("kernel.io_uring_disabled is {}: `sysctl -w "
                                     "kernel.io_uring_disabled=0`; targets use io_uring for files, "
                                     "and `rdmablk copy` does",
                                     disabled));
  }
  constexpr unsigned kOldest = 5019;
  if (!release.empty() && version_number(release) < kOldest) {
    return warning(check, "works" + kernel,
                   "a target needs Linux 5.19 or later to export files: use a newer kernel there");
  }
  return good(check, "works" + kernel);
}

}  // namespace

void check_kernel(const Host& host, Findings& findings) {
  if (host.has_software_device()) {
    findings.push_back(good("software device",
                            "libsoftverbs.so is preloaded: for trials on one host, no network"));
    findings.push_back(skipped("kernel modules", kIsSoftware));
    findings.push_back(skipped("device nodes", kIsSoftware));
  } else {
    findings.push_back(skipped("software device", "libsoftverbs.so is not preloaded"));
    findings.push_back(check_modules(host));
    findings.push_back(check_nodes(host));
  }
  findings.push_back(check_control_group(host));
  findings.push_back(check_io_uring(host));
}

}  // namespace rdmablk::doctor
