#include "target/service_manager.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <systemd/sd-daemon.h>
#include <time.h>

#include <cerrno>
#include <cinttypes>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/error.h"

namespace rdmablk::target {
namespace {

constexpr std::uint64_t kBarrierMicroseconds = 30'000'000;

/// A second open file description of a memfd, with a lock: as long as anybody has it, the first one
/// cannot be locked. So it shows whether the manager, which closes without a word what its store
/// has no room for, has kept it.
UniqueFd open_locked(int fd) {
  UniqueFd other(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDWR | O_CLOEXEC));
  if (!other || ::flock(other.get(), LOCK_EX | LOCK_NB) != 0) {
    throw SystemError("prepare memory for the service manager's store", errno);
  }
  return other;
}

bool is_kept(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return true;
  ::flock(fd, LOCK_UN);
  return false;
}

void check(int result, const char* doing) {
  if (result < 0) throw SystemError(doing, -result);
}

}  // namespace

ServiceManager::ServiceManager() : is_there_(std::getenv("NOTIFY_SOCKET") != nullptr) {}

void ServiceManager::take_back(InheritedMemory& into) const {
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(1, &names);
  check(count, "take the descriptors that the service manager passes");
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    texts.emplace_back(names[i]);
    std::free(names[i]);
  }
  std::free(names);
  std::vector<UniqueFd> descriptors;
  for (int i = 0; i < count; ++i) descriptors.emplace_back(SD_LISTEN_FDS_START + i);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    into.add(texts[i], std::move(descriptors[i]), true);
  }
}

bool ServiceManager::store(std::span<const Stored> descriptors) const {
  if (!is_there_) return false;
  for (const Stored& one : descriptors) {
    const UniqueFd other = open_locked(one.fd);
    const int fd = other.get();
    const auto text = fmt::format("FDSTORE=1\nFDNAME={}\nFDPOLL=0", one.name);
    check(::sd_pid_notify_with_fds(0, 0, text.c_str(), &fd, 1),
          "hand memory to the service manager");
  }
  check(::sd_notify_barrier(0, kBarrierMicroseconds), "wait for the service manager");
  std::size_t kept = 0;
  for (const Stored& one : descriptors) kept += is_kept(one.fd) ? 1 : 0;
  if (kept == descriptors.size()) return true;
  for (const Stored& one : descriptors) remove(one.name);
  if (kept == 0) return false;
  throw Error(fmt::format(
      "the service manager keeps {} of {} descriptors: set FileDescriptorStoreMax= of this service "
      "to two for each export of memory, and for each resident one",
      kept, descriptors.size()));
}

void ServiceManager::remove_memory(const std::string& name) const noexcept {
  remove(memory_fd_name(name));
  remove(record_fd_name(name));
}

void ServiceManager::remove(const std::string& descriptor) const noexcept {
  if (is_there_) ::sd_notify(0, ("FDSTOREREMOVE=1\nFDNAME=" + descriptor).c_str());
}

void ServiceManager::tell_ready() const noexcept {
  ::sd_notify(0, "READY=1");
}

void ServiceManager::tell_stopping() const noexcept {
  ::sd_notify(0, "STOPPING=1");
}

void ServiceManager::tell_reloading() const noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto microseconds = std::uint64_t{1'000'000} * static_cast<std::uint64_t>(now.tv_sec) +
                            static_cast<std::uint64_t>(now.tv_nsec) / 1000;
  ::sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, microseconds);
}

void ServiceManager::tell_status(const std::string& text) const noexcept {
  ::sd_notifyf(0, "STATUS=%s", text.c_str());
}

std::optional<std::chrono::microseconds> ServiceManager::watchdog_interval() const {
  std::uint64_t microseconds = 0;
  const int enabled = ::sd_watchdog_enabled(0, &microseconds);
  check(enabled, "read the service manager's WATCHDOG_USEC");
  if (enabled == 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

void ServiceManager::tell_alive() const noexcept {
  ::sd_notify(0, "WATCHDOG=1");
}

}  // namespace rdmablk::target
