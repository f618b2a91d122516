#include "initiator/cli/unmount_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/daemon_marker.h"
#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/forced_unmount.h"
#include "initiator/cli/mount_holder.h"
#include "initiator/cli/unmount.h"

namespace rdmablk::cli {
namespace {

/// After how long it says what it waits for.
constexpr std::chrono::seconds kLongWait{2};

/// What is waited for.
std::string reason(const MountEntry& mount, const MountDaemon& daemon) {
  if (const auto holder = find_mount_holder(mount.device)) {
    return fmt::format("is unmounted here, but {}", what_it_keeps(*holder, daemon.pid()));
  }
  return fmt::format(
      "is unmounted, and rdmablk-fuse (process {}) has the target flush what was written",
      daemon.pid());
}

/// Waits until the daemon of a mount that is gone has ended.
void wait_for_end(const MountDaemon& daemon, const MountEntry& mount) {
  if (daemon.wait_for_end(kLongWait)) return;
  fmt::print(stderr, "rdmablk: '{}' {}; waiting up to {} s for that\n", mount.path,
             reason(mount, daemon), (kDaemonEndTime - kLongWait).count());
  if (daemon.wait_for_end(kDaemonEndTime - kLongWait)) return;
  print_error("rdmablk", fmt::format("'{}' is unmounted, but rdmablk-fuse (process {}) still runs",
                                     mount.path, daemon.pid()));
}

}  // namespace

UnmountCommand::UnmountCommand(CLI::App& parent) : Command(parent, "unmount", "take a mount away") {
  arguments()
      .add_option("MOUNTPOINT", mount_point_, "what was mounted on")
      ->type_name("")
      ->required();
  auto* const lazy = arguments().add_flag(
      "-l,--lazy", lazy_, "take it out of sight now, and away once nothing uses it any more");
  arguments()
      .add_flag("-f,--force", force_,
                "end it now, even if it is in use, or its target is away: all reads and writes "
                "that wait, and all that follow, fail")
      ->excludes(lazy);
  arguments().footer(
      "Clears a mount whose rdmablk-fuse has died, too. Returns once that process has ended (with\n"
      "--lazy, at once). --force waits for no target; it says what may be lost. A loop device on "
      "the\n"
      "mount is to be detached by `losetup --detach`.\n"
      "\n"
      "Examples:\n"
      "  rdmablk unmount /mnt/scratch\n"
      "  rdmablk unmount --lazy /mnt/scratch\n"
      "  rdmablk unmount --force /mnt/scratch");
}

int UnmountCommand::run() {
  const MountEntry mount = find_rdmablk_mount(mount_point_, "unmount");
  if (force_) {
    const std::string note = unmount_by_force(mount);
    if (!note.empty()) {
      print_error("rdmablk", fmt::format("'{}' is unmounted; {}", mount.path, note));
    }
    return kExitDone;
  }
  const auto daemon = MountDaemon::find(mount.device);
  unmount(mount, lazy_);
  if (daemon && !lazy_) wait_for_end(*daemon, mount);
  return kExitDone;
}

}  // namespace rdmablk::cli
