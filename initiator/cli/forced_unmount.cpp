#include "initiator/cli/forced_unmount.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <vector>

#include "common/counted.h"
#include "common/daemon_marker.h"
#include "common/error.h"
#include "common/unique_fd.h"
#include "initiator/cli/unmount.h"

namespace rdmablk::cli {
namespace {

using Kind = MountAnswer::Kind;
using mount_control::Change;
using mount_control::Phase;
using std::chrono::milliseconds;

/// How long a mount may take to answer, what waits in it to end, and its daemon to go.
constexpr milliseconds kAnswerTime{1000};
constexpr milliseconds kFailTime{1000};
constexpr milliseconds kEndTime{3000};

MountAnswer probe(const MountEntry& mount, const std::optional<Change>& change) {
  return probe_mounts(std::span(&mount, 1), kAnswerTime, change).front();
}

/// What waits for the target is to wait no more.
Change no_waiting() {
  Change change{};
  change.version = Change::kVersion;
  change.what = Change::kFailFast;
  change.times.fail_fast = 0;
  return change;
}

/// The daemon lets requests go with EIO, which programs understand better than what the kernel has
/// for them when it cuts the connection.
void let_requests_fail(const MountEntry& mount, const MountAnswer& first) {
  if (first.kind != Kind::answered || first.status.phase == Phase::connected) return;
  const auto end = std::chrono::steady_clock::now() + kFailTime;
  MountAnswer answer = first;
  while (answer.kind == Kind::answered && answer.activity.in_flight > 0 &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(20));
    answer = probe(mount, {});
  }
}

bool is_gone(const MountEntry& mount) {
  const auto there = mounted_at(mount.path);
  return !there || there->device != mount.device;
}

/// Has the kernel end all requests of the mount, without asking its daemon: as root's umount2(2)
/// does, for its owner, where there is that file system.
void abort_connection(const MountEntry& mount) {
  const std::string minor = mount.device.substr(mount.device.find(':') + 1);
  const std::string path = fmt::format("/sys/fs/fuse/connections/{}/abort", minor);
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file && ::write(file.get(), "1", 1) < 0) return;  // the connection has gone by now
}

/// For users other than root. @return whether it was in use.
bool take_away_by_helper(const MountEntry& mount) {
  try {
    unmount(mount, false);
    return false;
  } catch (
      const Error& /*error*/) {  // busy, most likely; if it is not permitted, that is told below
    abort_connection(mount);
  }
  try {
    unmount(mount, true);
  } catch (const Error& /*error*/) {
    if (!is_gone(mount)) throw;  // its daemon, which lost its connection, was quicker
  }
  return true;
}

/// @return whether it was in use.
bool take_away(const MountEntry& mount) {
  if (::umount2(mount.path.c_str(), UMOUNT_NOFOLLOW) == 0) return false;
  if (errno == EPERM) return take_away_by_helper(mount);
  const bool was_busy = errno == EBUSY;
  constexpr int kNow = UMOUNT_NOFOLLOW | MNT_FORCE | MNT_DETACH;
  if (::umount2(mount.path.c_str(), kNow) != 0 && !is_gone(mount)) unmount(mount, true);
  return was_busy;
}

std::string end_note(const std::optional<MountDaemon>& daemon) {
  if (!daemon || daemon->wait_for_end(kEndTime)) return "";
  return fmt::format("rdmablk-fuse (process {}) still runs: it is stopped, or waits for its target",
                     daemon->pid());
}

void append(std::string& text, const std::string& more) {
  if (!text.empty() && !more.empty()) text += "; ";
  text += more;
}

}  // namespace

std::string forced_unmount_note(const MountAnswer& answer, bool was_busy) {
  constexpr const char* kMayBeLost = "what was written and not synced may be lost";
  std::string text;
  if (was_busy) append(text, "it was in use: programs that have it open get errors from now on");
  if (answer.kind == Kind::dead) {
    append(text, fmt::format("its rdmablk-fuse had died: {}", kMayBeLost));
  } else if (answer.kind != Kind::answered) {
    append(text, fmt::format("its rdmablk-fuse did not answer: {}", kMayBeLost));
  } else {
    const auto requests = answer.activity.in_flight;
    if (requests > 0) {
      append(text, fmt::format("{} under way failed", counted(requests, "request")));
    }
    const bool is_away = answer.status.phase != Phase::connected;
    if (answer.activity.unsynced != 0 && (is_away || requests > 0)) append(text, kMayBeLost);
  }
  return text;
}

std::string unmount_by_force(const MountEntry& mount) {
  const auto daemon = MountDaemon::find(mount.device);
  const MountAnswer answer = probe(mount, no_waiting());
  let_requests_fail(mount, answer);
  const bool was_busy = take_away(mount);
  std::string note = forced_unmount_note(answer, was_busy);
  append(note, end_note(daemon));
  return note;
}

}  // namespace rdmablk::cli
