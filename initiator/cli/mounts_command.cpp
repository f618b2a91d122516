#include "initiator/cli/mounts_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "common/error.h"
#include "common/mount_table.h"
#include "initiator/cli/mounts_report.h"
#include "initiator/cli/unmount.h"

namespace rdmablk::cli {

MountsCommand::MountsCommand(CLI::App& parent)
    : Command(parent, "mounts", "list the mounts of this machine, and how they are doing") {
  add_timeout_option("2");
  add_json_option();
  arguments().footer(
      "States: connected; reconnecting: reads and writes wait; failing: they fail, and it still "
      "tries to\n"
      "reconnect; lost: they fail for good; not answering: its rdmablk-fuse is stopped or stuck, "
      "and\n"
      "said nothing within --timeout; dead: its rdmablk-fuse has died, `rdmablk unmount` clears it "
      "away;\n"
      "not permitted: it is another user's.\n"
      "\n"
      "Examples:\n"
      "  rdmablk mounts\n"
      "  rdmablk mounts --json");
}

int MountsCommand::run() {
  const auto time = timeout();
  std::vector<MountEntry> mounts;
  for (MountEntry& mount : read_mount_table()) {
    if (is_rdmablk_mount(mount)) mounts.push_back(std::move(mount));
  }
  const auto answers = probe_mounts(mounts, time);
  std::vector<MountReport> reports;
  for (std::size_t i = 0; i < mounts.size(); ++i) reports.push_back({mounts[i], answers[i]});
  if (wants_json()) {
    print_json(mounts_json(reports));
  } else {
    fmt::print("{}", mounts_text(reports));
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
