#include "initiator/cli/mapping/mapper.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/log.h"
#include "common/mount_image.h"
#include "common/unique_fd.h"
#include "common/uuid.h"
#include "initiator/cli/child_process.h"
#include "initiator/cli/mapping/loop_device.h"
#include "initiator/cli/mapping/map_links.h"
#include "initiator/cli/mapping/map_lock.h"
#include "initiator/cli/mapping/map_state.h"
#include "initiator/cli/mapping/unmapper.h"

namespace rdmablk::cli::mapping {
namespace {

/// A map in the making. Unless it is finished, it is taken away again.
class Attempt {
 public:
  Attempt(const MapRoots& roots, const MapRequest& request)
      : roots_(roots),
        place_(roots, request.uri),
        record_{.uri = request.uri, .name = request.name, .uuid = {}, .device = {}} {
    record_.write(place_);
  }

  ~Attempt() {
    if (finished_) return;
    try {
      remove_unused(roots_, record_);
    } catch (const std::exception& error) {
      print_error("rdmablk", error.what());
    }
  }
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  void mount(const std::string& options) const {
    const UniqueFd file(
        ::open(place_.image().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file) throw SystemError(fmt::format("make {}", place_.image()), errno);
    const Outcome outcome =
        run_program_and_wait({fuse_program(), "--quiet", "--or-read-only", "-o", options, "--",
                              record_.uri.text(), place_.image()});
    if (outcome.exit_status() == kExitDone) return;
    const std::string why = outcome.complaint();
    if (outcome.exit_status() == kExitUsage) throw UsageError(why);
    throw Error(why.empty()
                    ? fmt::format("rdmablk-fuse ended with status {}", outcome.exit_status())
                    : why);
  }

  void attach() {
    const mount_image::Image image = ask();
    record_.uuid = uuid_of(image);
    record_.read_only = image.read_only != 0;
    attach_loop({.image = place_.image(),
                 .label = record_.uri.text(),
                 .block_size = loop_block_size(image.size, image.block_size),
                 .read_only = record_.read_only},
                [this](const std::string& device) { choose(device); });
    if (loop_is_direct(record_.device)) return;
    print_error("rdmablk",
                fmt::format("the kernel gives {} no direct I/O: what is written to it is "
                            "in memory twice",
                            record_.device_path()));
  }

  MapRecord finish() {
    make_links(roots_, record_);
    announce(record_.device);
    finished_ = true;
    return record_;
  }

 private:
  mount_image::Image ask() const {
    const UniqueFd file(::open(place_.image().c_str(), O_RDONLY | O_CLOEXEC));
    mount_image::Image image{};
    if (!file || ::ioctl(file.get(), mount_image::kGetImage, &image) != 0) {
      throw SystemError(fmt::format("ask the mount on {} what it shows", place_.image()), errno);
    }
    return image;
  }

  static std::string uuid_of(const mount_image::Image& image) {
    const bool has_one = std::any_of(image.uuid.begin(), image.uuid.end(),
                                     [](std::byte each) { return each != std::byte{}; });
    return has_one ? format_uuid(image.uuid) : std::string();
  }

  /// Whoever finds the record after this process was killed knows which device to look at.
  void choose(const std::string& device) {
    remove_links(roots_, record_);  // of one that was lost to another
    record_.device = device;
    record_.write(place_);
    write_udev_file(roots_, record_);
  }

  const MapRoots& roots_;
  MapPlace place_;
  MapRecord record_;
  bool finished_ = false;
};

void expect_root() {
  if (::geteuid() == 0) return;
  throw Error("cannot map: it takes root to make a block device; `rdmablk mount` does not");
}

/// What is there of an earlier map of the same export.
void make_room(const MapRoots& roots, const MapRequest& request) {
  const auto earlier = MapRecord::read(MapPlace(roots, request.uri).record());
  if (!earlier) return remove_unused(roots, MapRecord{.uri = request.uri});
  const std::string uri = request.uri.text();
  switch (state_of(roots, *earlier)) {
    case MapState::ready:
      throw Error(
          fmt::format("cannot map {}: it is mapped already, as {}", uri, earlier->device_path()));
    case MapState::dead:
      throw Error(
          fmt::format("cannot map {}: {} is left of an earlier map, whose rdmablk-fuse has died; "
                      "`rdmablk unmap {}` takes it away",
                      uri, earlier->device_path(), uri));
    case MapState::incomplete:
      remove_unused(roots, *earlier);
  }
}

void expect_free_name(const MapRoots& roots, const MapRequest& request) {
  if (request.name.empty()) return;
  for (const MapRecord& other : read_map_records(roots)) {
    if (other.name != request.name || other.uri == request.uri) continue;
    throw Error(fmt::format("cannot map {} as '{}': that is the name of {}", request.uri.text(),
                            request.name, other.uri.text()));
  }
}

}  // namespace

MapRecord map_export(const MapRoots& roots, const MapRequest& request) {
  expect_root();
  expect_free_name(roots, request);
  const MapPlace place(roots, request.uri);
  MapLock lock = MapLock::make(place);
  make_room(roots, request);
  // Taking away what was left takes the directory, too.
  lock = MapLock::make(place);
  Attempt attempt(roots, request);
  attempt.mount(request.options);
  attempt.attach();
  return attempt.finish();
}

}  // namespace rdmablk::cli::mapping
