#include "common/softverbs/verbs/device_watch.h"

#include <poll.h>
#include <pthread.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>

#include "common/softverbs/faults/fault_injector.h"
#include "common/softverbs/verbs/blocked_signals.h"
#include "common/softverbs/verbs/process.h"

namespace softverbs {
namespace {

/// How often the file is looked at where the kernel does not tell of changes.
constexpr int kLookEveryMs = 20;

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// \return -1 where the kernel does not tell.
int watch_directory(const std::string& directory) {
  const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (fd < 0) return -1;
  if (inotify_add_watch(fd, directory.c_str(), IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE) >= 0) {
    return fd;
  }
  close(fd);
  return -1;
}

}  // namespace

DeviceWatch::DeviceWatch(Process& process) : process_(process) {
  FaultInjector* const faults = FaultInjector::get();
  if (faults == nullptr || faults->plan_file().empty()) return;
  // First: what changes while it is looked at is looked at again.
  const int inotify = watch_directory(directory_of(faults->plan_file()));
  DeviceSet::get().update([](Device&, bool) {});  // No device is open yet.
  const BlockedSignals blocked;
  std::thread thread([this, inotify] { run(inotify); });
  pthread_setname_np(thread.native_handle(), "softverbs-plan");
  thread.detach();
}

void DeviceWatch::subscribe(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  subscribers_.push_back(std::move(function));
}

void DeviceWatch::look_unless_watched() {
  if (FaultInjector::get() == nullptr || Process::exists()) return;
  DeviceSet::get().update([](Device&, bool) {});
}

void DeviceWatch::run(int inotify) {
  alignas(inotify_event) std::array<char, 4096> events;
  for (;;) {
    pollfd entry{inotify, POLLIN, 0};
    poll(&entry, 1, inotify < 0 ? kLookEveryMs : -1);
    while (inotify >= 0 && read(inotify, events.data(), events.size()) > 0) {
    }
    look();
  }
}

void DeviceWatch::look() {
  std::vector<std::pair<Fault, std::string>> told;
  DeviceSet::get().update([&](Device& device, bool removal) {
    on_change(device, removal);
    const bool begins = removal ? device.removed.load() : device.port_down.load();
    const char* const what = removal ? (begins ? " gone" : " back") : (begins ? " down" : " up");
    told.emplace_back(removal ? Fault::kDeviceRemoval : Fault::kPortDown,
                      std::string(device.base.name) + what);
  });
  if (told.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& subscriber : subscribers_) subscriber();
  }
  // When it is in the log, everybody has been told.
  for (const auto& [fault, detail] : told) FaultInjector::get()->log(fault, detail);
}

void DeviceWatch::on_change(Device& device, bool removal) {
  if (removal && device.removed.load()) return process_.remove(device);
  process_.set_port(device);
}

}  // namespace softverbs
