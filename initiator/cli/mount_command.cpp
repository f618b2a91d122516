#include "initiator/cli/mount_command.h"

#include <fmt/format.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "initiator/cli/child_process.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kDaemon = "rdmablk-fuse";

constexpr const char* kMountFooter =
    "Options: whatever `rdmablk-fuse --help` lists; -o takes them as mount(8) does, separated by\n"
    "commas: ro, rw, allow_other, uid=N, gid=N, mode=OCTAL, fsname=NAME, workers=N, "
    "queue_depth=N,\n"
    "spin=MICROSECONDS, slow=MILLISECONDS, reconnect_delay=SECONDS, fail_fast=SECONDS,\n"
    "give_up=SECONDS, take_over, keyfile=FILE, client=NAME, metrics=[ADDR:]PORT,\n"
    "mask_features=LIST; and how to connect: cm=rdmacm|tcp, path=HOST[:PORT], device=NAME,\n"
    "gid_index=N, pkey_index=N, service_level=N, traffic_class=N, path_mtu=BYTES, ack_timeout=N,\n"
    "retries=N.\n"
    "\n"
    "The mount point is a file, which becomes the image, or an empty directory, which then holds "
    "one\n"
    "file named after the export. The command returns once the mount works. From then on the "
    "mount\n"
    "logs to syslog as rdmablk-fuse (journalctl -t rdmablk-fuse); with --foreground, to standard "
    "error.\n"
    "\n"
    "Examples:\n"
    "  rdmablk mount rdmablk://storage1/scratch /mnt/scratch\n"
    "  rdmablk mount rdmablk://storage1/scratch /mnt/scratch -o ro,allow_other\n"
    "  rdmablk unmount /mnt/scratch";

/// Shows the arguments that are not read here, but passed on.
class MountFormatter final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: rdmablk mount URI MOUNTPOINT [-o OPTION[,OPTION...]] [OPTION...]\n\n";
  }
};

/// Returns only when it fails.
void become(const std::string& path, const std::vector<std::string>& arguments) {
  std::vector<std::string> owned{kDaemon};
  owned.insert(owned.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : owned) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  // A daemon would keep what the caller has open: a lock, the end of a pipe.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execvp(path.c_str(), pointers.data());
}

}  // namespace

MountCommand::MountCommand(CLI::App& parent)
    : Command(parent, "mount", "mount an export as a file") {
  arguments().prefix_command();
  arguments().formatter(std::make_shared<MountFormatter>());
  arguments().footer(kMountFooter);
}

int MountCommand::run() {
  const auto passed_on = arguments().remaining();
  if (passed_on.empty()) {
    throw UsageError("mount takes a URI and a mount point; see `rdmablk mount --help`");
  }
  const std::string path = fuse_program();
  become(path, passed_on);
  if (errno == ENOENT && path == kDaemon) {
    throw Error(
        fmt::format("cannot find {}, neither beside this program nor in PATH; is it "
                    "installed?",
                    kDaemon));
  }
  throw SystemError(fmt::format("start {}", path), errno);
}

}  // namespace rdmablk::cli
