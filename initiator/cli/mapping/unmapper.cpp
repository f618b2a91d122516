#include "initiator/cli/mapping/unmapper.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "common/cm/settings.h"
#include "common/daemon_marker.h"
#include "common/error.h"
#include "common/mount_table.h"
#include "initiator/cli/mapping/device_users.h"
#include "initiator/cli/mapping/loop_device.h"
#include "initiator/cli/mapping/map_links.h"
#include "initiator/cli/mapping/map_lock.h"
#include "initiator/cli/mapping/map_state.h"
#include "initiator/cli/mount_holder.h"
#include "initiator/cli/unmount.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;
using Notes = std::vector<std::string>;

[[noreturn]] void fail_in_use(const MapRecord& record, const std::vector<std::string>& users) {
  throw Error(
      fmt::format("cannot unmap {}: {}; --force takes it away all the same, and what was "
                  "not flushed is lost",
                  record.device_path(), fmt::join(users, ", ")));
}

/// The device, so that nobody can begin to use it. Throws Error when somebody does.
UniqueFd claim(const MapRecord& record) {
  const auto users = lasting_users(record.device);
  if (!users.empty()) fail_in_use(record, users);
  UniqueFd fd = open_exclusively(record.device);
  if (!fd) fail_in_use(record, {"it is mounted, or held, elsewhere"});
  return fd;
}

/// What programs wrote to the device goes to the target, and there to stable storage.
void flush(const UniqueFd& device, const MapRecord& record, bool is_dead, Notes& notes) {
  if (record.read_only || ::fsync(device.get()) == 0) return;
  const std::string why = errno_text(errno);
  if (!is_dead) {
    throw Error(fmt::format(
        "cannot unmap {}: what was written to it cannot be flushed: {}; --force gives it up",
        record.device_path(), why));
  }
  notes.push_back(fmt::format("{}: its rdmablk-fuse had died; what was not flushed is lost",
                              record.uri.text()));
}

/// A device is freed when all have closed it: udev looks at one now and then.
bool wait_until_free(const MapRoots& roots, const MapRecord& record) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  constexpr int kMostLooks = 250;
  for (int i = 0; i < kMostLooks; ++i) {
    if (!has_device(roots, record)) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

void remove_place(const MapPlace& place) {
  std::error_code error;
  fs::remove(place.image(), error);
  fs::remove(place.record(), error);
  fs::remove(place.record() + ".new", error);
  fs::remove(place.directory, error);
  fs::remove(fs::path(place.directory).parent_path(), error);
  fs::remove(fs::path(place.directory).parent_path().parent_path(), error);
}

/// @param lazy whoever uses the image still keeps it, and it is out of sight.
void unmount_image(const MapPlace& place, bool lazy) {
  while (const auto mount = mounted_at(place.image())) {
    const auto daemon = MountDaemon::find(mount->device);
    unmount(*mount, lazy);
    if (!daemon || lazy) continue;
    if (daemon->wait_for_end(kDaemonEndTime)) continue;
    const auto holder = find_mount_holder(mount->device);
    throw Error(
        fmt::format("{} is unmounted here, but {}", place.image(),
                    holder ? what_it_keeps(*holder, daemon->pid())
                           : fmt::format("rdmablk-fuse (process {}) still runs", daemon->pid())));
  }
}

/// A link in /dev leads to a device. Elsewhere, looking for links could ask a mount that hangs.
fs::path resolved(const std::string& path) {
  std::error_code error;
  if (!path.starts_with("/dev/")) return fs::path(path).lexically_normal();
  const fs::path real = fs::canonical(path, error);
  return error ? fs::path(path) : real;
}

/// Neither the target nor rdmablk-fuse is waited for from here on (umount2(2), MNT_FORCE).
void break_connection(const MapPlace& place) {
  if (mounted_at(place.image())) {
    ::umount2(place.image().c_str(), MNT_FORCE | UMOUNT_NOFOLLOW);
  }
}

/// A URI without a port may be of either way to connect.
std::vector<Uri> uris_of(const std::string& what) {
  std::vector<Uri> uris{parse_uri(what, cm::default_port(cm::Method::rdmacm))};
  Uri other = parse_uri(what, cm::default_port(cm::Method::tcp));
  if (other != uris.front()) uris.push_back(std::move(other));
  return uris;
}

}  // namespace

std::optional<MapRecord> find_map(const MapRoots& roots, const std::string& what) {
  std::error_code error;
  const fs::path path = resolved(what);
  const bool is_uri = what.starts_with("rdmablk://");
  const auto uris = is_uri ? uris_of(what) : std::vector<Uri>();
  for (const MapRecord& record : read_map_records(roots)) {
    const MapPlace place(roots, record.uri);
    const bool is_it = is_uri ? std::find(uris.begin(), uris.end(), record.uri) != uris.end()
                              : (!record.name.empty() && record.name == what) ||
                                    (!record.device.empty() && path == record.device_path()) ||
                                    fs::path(what) == place.link || path == place.image() ||
                                    path == place.directory;
    if (is_it) return record;
  }
  // One that was killed before it wrote its record, or whose record is damaged.
  for (const Uri& uri : uris) {
    MapRecord record{.uri = uri};
    if (fs::exists(MapPlace(roots, record.uri).directory, error)) return record;
  }
  return std::nullopt;
}

void fail_not_mapped(const std::string& what) {
  throw Error(fmt::format("'{}' is not mapped here; `rdmablk map --list` shows what is", what));
}

void remove_unused(const MapRoots& roots, const MapRecord& record) {
  const MapPlace place(roots, record.uri);
  if (has_device(roots, record)) {
    detach_loop(claim(record));
    if (!wait_until_free(roots, record)) fail_in_use(record, device_users(record.device));
  }
  remove_links(roots, record);
  unmount_image(place, false);
  remove_place(place);
}

Notes unmap(const MapRoots& roots, const MapRecord& record) {
  const MapLock lock = MapLock::take(MapPlace(roots, record.uri));
  if (!lock) return {};  // somebody else has just done it
  Notes notes;
  const MapState state = state_of(roots, record);
  if (state != MapState::incomplete) {
    const UniqueFd device = claim(record);
    flush(device, record, state == MapState::dead, notes);
  }
  remove_unused(roots, record);
  return notes;
}

Notes unmap_by_force(const MapRoots& roots, const MapRecord& record) {
  const MapPlace place(roots, record.uri);
  Notes notes;
  // Before the lock: who has it may be waiting for the target.
  break_connection(place);
  const MapLock lock = MapLock::take(place);
  if (!lock) return notes;
  if (has_device(roots, record)) {
    for (const std::string& user : device_users(record.device)) {
      notes.push_back(fmt::format("{}: {}, and gets errors; the device is free when that ends",
                                  record.device_path(), user));
    }
    detach_loop(open_device(record.device));
    if (notes.empty()) wait_until_free(roots, record);
  }
  remove_links(roots, record);
  unmount_image(place, true);
  remove_place(place);
  return notes;
}

}  // namespace rdmablk::cli::mapping
