// rdmablk-fuse: mounts an image that another machine lends, over RDMA, as one file.

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "common/error.h"
#include "common/log.h"
#include "fuse/background.h"
#include "fuse/log_switch.h"
#include "fuse/loop_hints.h"
#include "fuse/memory_pressure.h"
#include "fuse/mount.h"
#include "fuse/mount_helper.h"
#include "fuse/mount_point.h"
#include "fuse/options.h"
#include "fuse/termination_signals.h"

namespace {

using namespace rdmablk;        // NOLINT(google-build-using-namespace)
using namespace rdmablk::fuse;  // NOLINT(google-build-using-namespace)

constexpr const char* kProgram = "rdmablk-fuse";

void tell_what_to_do(const Options& options, const MountPoint& point, bool read_only) {
  if (options.quiet) return;
  const LoopHints hints{.image = point.image_path(options.image_name()),
                        .mount_point = point.path,
                        .read_only = read_only,
                        .closed_to_root = ::geteuid() != 0 && !options.mount.allow_other};
  fmt::print("{}", hints.text());
  std::fflush(stdout);
}

void log_mounted(const Options& options, const MountPoint& point) {
  spdlog::info("{} is mounted on {}", options.source(), point.path);
}

int serve_in_foreground(const Options& options, MountPoint& point) {
  brace_for_memory_pressure();
  const TerminationSignals signals;
  Mount mount;
  mount.start(options, point);
  point.lock.reset();
  tell_what_to_do(options, point, mount.is_read_only());
  log_mounted(options, point);
  mount.wait(signals);
  return mount.stop() ? kExitDone : kExitFailed;
}

/// The background process, after the fork.
int serve_in_background(const Options& options, MountPoint& point, Background& background) {
  LogSwitch log;
  std::optional<TerminationSignals> signals;
  std::optional<Mount> mount;
  try {
    brace_for_memory_pressure();
    signals.emplace();
    mount.emplace();
    mount->start(options, point);
    point.lock.reset();
    tell_what_to_do(options, point, mount->is_read_only());
    log.to_syslog();
    if (!background.ready()) throw Error("the program that started it is gone");
  } catch (const std::exception& error) {
    mount.reset();  // nothing is left behind when the parent tells of the failure
    background.failed(error.what());
    return kExitFailed;
  }
  log_mounted(options, point);
  mount->wait(*signals);
  return mount->stop() ? kExitDone : kExitFailed;
}

/// What can be known without mounting.
int check(const Options& options) {
  static_cast<void>(options.mount.credentials());
  return kExitDone;
}

int run(int argc, char** argv) {
  const std::optional<Options> options = parse_command_line(argc, argv);
  if (!options) return kExitDone;
  start_logging(kProgram, options->log_level);
  for (const std::string& name : options->mount.unknown) {
    spdlog::warn("mount option '{}' is unknown here, and left out", name);
  }
  if (options->is_fake) return check(*options);
  std::string note;
  MountPoint point = prepare_mount_point(options->mount_point, note);
  if (!note.empty()) spdlog::info("{}", note);
  if (options->foreground) return serve_in_foreground(*options, point);
  Background background = Background::fork();
  if (!background.is_parent()) return serve_in_background(*options, point, background);
  background.wait_until_ready();
  return kExitDone;
}

/// A program that mount(8) waits for ends with its statuses, under the name that it knows.
int run_for_mount(int argc, char** argv) {
  switch (run_program(kMountHelper, &run, argc, argv)) {
    case kExitDone:
      return kMountDone;
    case kExitUsage:
      return kMountUsage;
    default:
      return kMountFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 0 && rdmablk::fuse::is_mount_helper(argv[0])) {
    return rdmablk::fuse::run_mount_helper(argc, argv);
  }
  if (argc > 1 && std::string_view(argv[1]) == "--for-mount") return run_for_mount(argc, argv);
  return rdmablk::run_program(kProgram, &run, argc, argv);
}
