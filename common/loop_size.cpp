#include "common/loop_size.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk {
namespace {

namespace fs = std::filesystem;

bool is_on(const fs::path& device, const std::string& path) {
  std::ifstream file(device / "loop/backing_file");
  std::string line;
  return std::getline(file, line) && line == path;
}

bool refresh(const std::string& device) noexcept try {
  refresh_loop_size(device);
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace

void refresh_loop_size(const std::string& device) {
  const UniqueFd fd(::open(device.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || ::ioctl(fd.get(), LOOP_SET_CAPACITY) != 0) {
    throw SystemError(fmt::format("have {} take the size of its image", device), errno);
  }
}

unsigned refresh_loop_sizes(const std::string& path) noexcept try {
  unsigned count = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/sys/block", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with("loop") || !is_on(entry->path(), path)) continue;
    count += refresh("/dev/" + name) ? 1 : 0;
  }
  return count;
} catch (const std::exception&) {
  return 0;
}

}  // namespace rdmablk
