#include "initiator/cli/timeouts_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "common/error.h"
#include "initiator/cli/mount_handle.h"
#include "initiator/cli/timeouts_report.h"
#include "initiator/cli/unmount.h"
#include "initiator/recovery_arguments.h"

namespace rdmablk::cli {
namespace {

using mount_control::Change;

std::uint64_t limit(const std::optional<std::chrono::milliseconds>& time) {
  return time ? static_cast<std::uint64_t>(time->count()) : mount_control::kNever;
}

/// Changing nothing must not pass for done.
void refuse_lost(const MountEntry& entry, const mount_control::Status& status) {
  if (status.phase != mount_control::Phase::lost) return;
  throw Error(
      fmt::format("cannot change the timeouts of '{}': it is lost for good, and they have no "
                  "effect any more; unmount it, and mount it anew",
                  entry.path));
}

}  // namespace

TimeoutsCommand::TimeoutsCommand(CLI::App& parent)
    : Command(parent, "timeouts", "show or change what a mount does while its target is away") {
  arguments()
      .add_option("MOUNTPOINT", mount_point_,
                  "what was mounted on: the image, or the directory that it is in")
      ->type_name("")
      ->required();
  const auto add = [this](const char* name, std::string& value, const char* description) {
    arguments().add_option(name, value, description)->type_name("SECONDS");
  };
  add("--reconnect-delay", reconnect_delay_, "between two attempts to reconnect, at most");
  add("--fail-fast", fail_fast_,
      "after so long, reads and writes fail in place of waiting; or 'never'");
  add("--give-up", give_up_, "after so long, they fail for good; or 'never'");
  add_json_option();
  arguments().footer(
      "Without any of them it shows what is set, and how the connection is doing. The times count\n"
      "from the loss, also of one that is lost already; fractions are allowed. It works while "
      "reads\n"
      "and writes hang, and takes root or the user who mounted it.\n"
      "\n"
      "Examples:\n"
      "  rdmablk timeouts /mnt/scratch\n"
      "  rdmablk timeouts /mnt/scratch --fail-fast 0        # let go of all that waits\n"
      "  rdmablk timeouts /mnt/scratch --give-up never --fail-fast never");
}

/// What is asked for. Throws UsageError.
Change TimeoutsCommand::change() const {
  Change change{};
  change.version = Change::kVersion;
  if (!reconnect_delay_.empty()) {
    change.what |= Change::kReconnectDelay;
    change.times.reconnect_delay = static_cast<std::uint64_t>(
        initiator::read_reconnect_delay("--reconnect-delay", reconnect_delay_).count());
  }
  if (!fail_fast_.empty()) {
    change.what |= Change::kFailFast;
    change.times.fail_fast = limit(initiator::read_recovery_limit("--fail-fast", fail_fast_));
  }
  if (!give_up_.empty()) {
    change.what |= Change::kGiveUp;
    change.times.give_up = limit(initiator::read_recovery_limit("--give-up", give_up_));
  }
  return change;
}

int TimeoutsCommand::run() {
  const Change wanted = change();
  const MountEntry entry = find_rdmablk_mount(mount_point_, "get at the timeouts of");
  const MountHandle mount(entry);
  if (wanted.what != 0) {
    refuse_lost(entry, mount.status());
    mount.set(wanted);
  }
  if (wants_json()) {
    print_json(timeouts_json(entry, mount.status()));
  } else if (wanted.what == 0) {
    fmt::print("{}", timeouts_text(entry, mount.status()));
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
