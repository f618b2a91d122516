#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "initiator/doctor/checks.h"

namespace rdmablk::doctor {
namespace {

constexpr const char* kUnit = "rdmablk-target.service";

constexpr std::array<const char*, 4> kUnitFolders{"/etc/systemd/system", "/run/systemd/system",
                                                  "/usr/lib/systemd/system", "/lib/systemd/system"};

}  // namespace

void check_service(const Host& host, Findings& findings) {
  const std::string check = "service";
  const bool is_installed = std::any_of(
      kUnitFolders.begin(), kUnitFolders.end(),
      [&](const char* folder) { return host.has(fmt::format("{}/{}", folder, kUnit)); });
  if (!is_installed) {
    findings.push_back(
        skipped(check, fmt::format("{} is not installed: only who lends needs it", kUnit)));
    return;
  }
  if (!host.has("/run/systemd/system")) {
    findings.push_back(skipped(check, fmt::format("{} is installed; systemd does not run", kUnit)));
    return;
  }
  const auto processes =
      host.read(fmt::format("/sys/fs/cgroup/system.slice/{}/cgroup.procs", kUnit));
  if (processes && !processes->empty()) {
    findings.push_back(good(check, fmt::format("{} runs", kUnit)));
    return;
  }
  findings.push_back(
      warning(check, fmt::format("{} is installed, and does not run", kUnit),
              fmt::format("`systemctl status {0}` says why; `systemctl enable --now {0}` starts it",
                          kUnit)));
}

Findings check_host(const Host& host) {
  Findings findings;
  check_devices(host, findings);
  check_kernel(host, findings);
  check_memory(host, findings);
  check_fuse(host, findings);
  check_service(host, findings);
  return findings;
}

}  // namespace rdmablk::doctor
