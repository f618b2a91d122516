#include "initiator/cli/mapping/device_users.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "common/mount_table.h"

namespace rdmablk::cli::mapping {
namespace {

namespace fs = std::filesystem;

template <typename Visit>
void for_each_entry(const fs::path& directory, Visit visit) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    visit(entry->path());
  }
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

void add_mounts(const std::string& device, std::vector<std::string>& users) {
  const std::string number = first_line(fmt::format("/sys/block/{}/dev", device));
  for (const MountEntry& mount : read_mount_table()) {
    if (mount.device == number) users.push_back(fmt::format("it is mounted on {}", mount.path));
  }
}

void add_holders(const std::string& device, std::vector<std::string>& users) {
  for_each_entry(fmt::format("/sys/block/{}/holders", device), [&](const fs::path& holder) {
    users.push_back(fmt::format("{} is on it", holder.filename().string()));
  });
}

void add_swap(const std::string& device, std::vector<std::string>& users) {
  std::ifstream swaps("/proc/swaps");
  const std::string path = fmt::format("/dev/{} ", device);
  for (std::string line; std::getline(swaps, line);) {
    if (line.starts_with(path)) {
      users.push_back(fmt::format("it is swapped to (`swapoff /dev/{}`)", device));
    }
  }
}

bool has_open(const fs::path& process, dev_t device) {
  bool found = false;
  for_each_entry(process / "fd", [&](const fs::path& link) {
    struct stat status {};
    std::error_code error;
    // The names of links tell it without asking file systems that may hang.
    const std::string target = fs::read_symlink(link, error).string();
    if (error || !target.starts_with("/dev/")) return;
    found |=
        ::stat(link.c_str(), &status) == 0 && S_ISBLK(status.st_mode) && status.st_rdev == device;
  });
  return found;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

void add_processes(const std::string& device, std::vector<std::string>& users) {
  struct stat status {};
  if (::stat(("/dev/" + device).c_str(), &status) != 0) return;
  const std::string self = std::to_string(::getpid());
  for_each_entry("/proc", [&](const fs::path& process) {
    const std::string number = process.filename().string();
    if (!is_number(number) || number == self || !has_open(process, status.st_rdev)) return;
    users.push_back(
        fmt::format("process {} ({}) has it open", number, first_line(process / "comm")));
  });
}

}  // namespace

std::vector<std::string> device_users(const std::string& device) {
  std::vector<std::string> users;
  add_mounts(device, users);
  add_holders(device, users);
  add_swap(device, users);
  add_processes(device, users);
  return users;
}

std::vector<std::string> lasting_users(const std::string& device) {
  constexpr auto kPause = std::chrono::milliseconds(50);
  constexpr int kMostLooks = 40;
  std::vector<std::string> users = device_users(device);
  for (int i = 0; i < kMostLooks && !users.empty(); ++i) {
    const bool lasting = std::any_of(users.begin(), users.end(), [](const std::string& user) {
      return !user.starts_with("process ");
    });
    if (lasting) break;
    std::this_thread::sleep_for(kPause);
    users = device_users(device);
  }
  return users;
}

}  // namespace rdmablk::cli::mapping
