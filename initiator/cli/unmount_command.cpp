#include "initiator/cli/unmount_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/daemon_marker.h"
#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/unmount.h"

namespace rdmablk::cli {
namespace {

/// How long the daemon may take to say goodbye to the target.
constexpr std::chrono::seconds kDaemonTimeout{10};

}  // namespace

UnmountCommand::UnmountCommand(CLI::App& parent) : Command(parent, "unmount", "take a mount away") {
  arguments()
      .add_option("MOUNTPOINT", mount_point_, "what was mounted on")
      ->type_name("")
      ->required();
  arguments().add_flag("-l,--lazy", lazy_,
                       "take it out of sight now, and away once nothing uses it any more");
  arguments().footer(
      "Clears a mount whose rdmablk-fuse has died, too. Returns once that process has ended (with\n"
      "--lazy, at once).\n"
      "\n"
      "Examples:\n"
      "  rdmablk unmount /mnt/scratch\n"
      "  rdmablk unmount --lazy /mnt/scratch");
}

int UnmountCommand::run() {
  const MountEntry mount = find_rdmablk_mount(mount_point_);
  const auto daemon = MountDaemon::find(mount.device);
  unmount(mount, lazy_);
  if (daemon && !lazy_ && !daemon->wait_for_end(kDaemonTimeout)) {
    print_error("rdmablk",
                fmt::format("'{}' is unmounted, but rdmablk-fuse (process {}) still runs",
                            mount.path, daemon->pid()));
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
