#include "initiator/cli/mapping/unmap_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/mapping/unmapper.h"

namespace rdmablk::cli::mapping {

UnmapCommand::UnmapCommand(CLI::App& parent)
    : Command(parent, "unmap", "take a block device of an export away") {
  arguments()
      .add_option("WHAT", what_, "the device, one of its names, or the URI")
      ->type_name("")
      ->required();
  arguments().add_flag(
      "--force", force_,
      "whatever uses it, and without waiting for the target; what was not flushed is lost");
  arguments().add_flag("--if-mapped", if_mapped_, "what is not mapped is no error");
  arguments().footer(
      "Flushes the device first, and refuses while it is mounted or open. Also clears what is "
      "left\n"
      "when rdmablk-fuse has died, or `rdmablk map` was killed.\n"
      "\n"
      "Examples:\n"
      "  rdmablk unmap /dev/loop0\n"
      "  rdmablk unmap /dev/rdmablk/storage1/scratch\n"
      "  rdmablk unmap rdmablk://storage1/scratch");
}

int UnmapCommand::run() {
  if (::geteuid() != 0) throw Error("cannot unmap: it takes root");
  const auto record = find_map(roots_, what_);
  if (!record && if_mapped_) return kExitDone;
  if (!record) fail_not_mapped(what_);
  const auto notes = force_ ? unmap_by_force(roots_, *record) : unmap(roots_, *record);
  for (const std::string& note : notes) print_error("rdmablk", note);
  return kExitDone;
}

}  // namespace rdmablk::cli::mapping
