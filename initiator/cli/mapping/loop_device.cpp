#include "initiator/cli/mapping/loop_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::cli::mapping {
namespace {

constexpr std::uint32_t kLeastBlock = 512;

/// Others may take a free device first.
constexpr int kMostAttempts = 64;

std::string path_of(const std::string& device) {
  return "/dev/" + device;
}

std::string attribute_path(const std::string& device, const char* attribute) {
  return fmt::format("/sys/block/{}/{}", device, attribute);
}

std::optional<std::string> attribute(const std::string& device, const char* name) {
  std::ifstream file(attribute_path(device, name));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::string free_device() {
  const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
  if (!control) {
    throw SystemError("open /dev/loop-control, which loop devices come from (modprobe loop)",
                      errno);
  }
  const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
  if (number < 0) throw SystemError("find a free loop device", errno);
  return fmt::format("loop{}", number);
}

loop_config configuration(const LoopSettings& settings, int image) {
  loop_config config{};
  config.fd = static_cast<__u32>(image);
  config.block_size = settings.block_size;
  config.info.lo_flags = LO_FLAGS_DIRECT_IO;
  if (settings.read_only) config.info.lo_flags |= LO_FLAGS_READ_ONLY;
  const std::size_t length = std::min<std::size_t>(settings.label.size(), LO_NAME_SIZE - 1);
  std::copy_n(settings.label.begin(), length, config.info.lo_file_name);
  return config;
}

/// @return whether it was still free. Throws SystemError.
bool configure(const std::string& device, const LoopSettings& settings, int image) {
  const int access = settings.read_only ? O_RDONLY : O_RDWR;
  const UniqueFd fd(::open(path_of(device).c_str(), access | O_CLOEXEC));
  if (!fd) throw SystemError(fmt::format("open {}", path_of(device)), errno);
  const loop_config config = configuration(settings, image);
  if (::ioctl(fd.get(), LOOP_CONFIGURE, &config) == 0) return true;
  if (errno == EBUSY) return false;
  throw SystemError(fmt::format("put {} on {}", path_of(device), settings.image), errno);
}

}  // namespace

std::uint32_t loop_block_size(std::uint64_t size, std::uint32_t wanted) {
  const auto page = static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE));
  std::uint32_t block = std::bit_floor(std::clamp(wanted, kLeastBlock, page));
  while (block > kLeastBlock && size % block != 0) block /= 2;
  return block;
}

std::string attach_loop(const LoopSettings& settings,
                        const std::function<void(const std::string&)>& choose) {
  const int access = settings.read_only ? O_RDONLY : O_RDWR;
  const UniqueFd image(::open(settings.image.c_str(), access | O_CLOEXEC));
  if (!image) throw SystemError(fmt::format("open {}", settings.image), errno);
  for (int i = 0; i < kMostAttempts; ++i) {
    const std::string device = free_device();
    choose(device);
    if (configure(device, settings, image.get())) return device;
  }
  throw Error(
      fmt::format("cannot put a loop device on {}: others keep taking them", settings.image));
}

std::optional<std::string> loop_backing_file(const std::string& device) {
  return device.empty() ? std::nullopt : attribute(device, "loop/backing_file");
}

std::uint64_t loop_size(const std::string& device) {
  const auto sectors = parse_number(attribute(device, "size").value_or(""), UINT64_MAX / 512);
  return sectors.value_or(0) * kSectorSize;
}

bool loop_is_direct(const std::string& device) {
  return attribute(device, "loop/dio").value_or("") == "1";
}

UniqueFd open_exclusively(const std::string& device) {
  UniqueFd fd(::open(path_of(device).c_str(), O_RDONLY | O_EXCL | O_CLOEXEC));
  if (!fd && errno != EBUSY) throw SystemError(fmt::format("open {}", path_of(device)), errno);
  return fd;
}

UniqueFd open_device(const std::string& device) {
  UniqueFd fd(::open(path_of(device).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw SystemError(fmt::format("open {}", path_of(device)), errno);
  return fd;
}

void detach_loop(UniqueFd device) {
  // ENXIO: there is no file behind it any more.
  if (::ioctl(device.get(), LOOP_CLR_FD) != 0 && errno != ENXIO) {
    throw SystemError("detach the loop device", errno);
  }
}

void announce(const std::string& device) noexcept {
  const UniqueFd file(::open(attribute_path(device, "uevent").c_str(), O_WRONLY | O_CLOEXEC));
  constexpr std::string_view kChange = "change";
  // Where nobody listens there is nothing to be told.
  if (file && ::write(file.get(), kChange.data(), kChange.size()) < 0) return;
}

}  // namespace rdmablk::cli::mapping
