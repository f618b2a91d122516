#include "target/saved_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/unique_fd.h"
#include "common/units.h"
#include "target/cancellation.h"
#include "target/progress.h"

namespace rdmablk::target {
namespace {

/// Read and written at once, and shown.
constexpr std::size_t kPiece = std::size_t{4} << 20;
/// What is left out when it is zero; a multiple of a file system's block.
constexpr std::size_t kBlock = std::size_t{64} << 10;

bool is_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
}

void write_all(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw SystemError("write", written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void read_all(int fd, std::span<std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw SystemError("read", got < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
}

/// Writes what is not zero, in runs of blocks.
void write_piece(int fd, std::span<const std::byte> piece, std::uint64_t offset) {
  std::size_t begin = 0;  // of what is to be written
  for (std::size_t at = 0; at < piece.size(); at += kBlock) {
    const std::size_t size = std::min(kBlock, piece.size() - at);
    if (!is_zero(piece.subspan(at, size))) continue;
    write_all(fd, piece.subspan(begin, at - begin), offset + begin);
    begin = at + size;
  }
  write_all(fd, piece.subspan(begin), offset + begin);
}

}  // namespace

void load_saved_memory(const ExportSpec& spec, std::span<std::byte> memory,
                       const Cancellation* cancellation) {
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("export '{}' cannot be loaded from {}: {}", spec.name, spec.save, why));
  };
  const UniqueFd fd(::open(spec.save.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) fail(errno_text(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail(errno_text(errno));
  if (!S_ISREG(status.st_mode)) fail("it is no regular file");
  if (static_cast<std::uint64_t>(status.st_size) != memory.size()) {
    fail(
        fmt::format("it has {} bytes, and the export {}: give it the size of what was saved, or "
                    "another file",
                    status.st_size, memory.size()));
  }
  Progress progress(
      {fmt::format("export '{}'", spec.name), fmt::format("loading {}:", spec.save), "loaded"},
      memory.size(), standard_progress_output());
  try {
    for (std::size_t at = 0; at < memory.size(); progress.show(at)) {
      if (cancellation != nullptr) cancellation->check();
      // The end of the data, if there is none; a file system without holes has data everywhere.
      const off_t data = ::lseek(fd.get(), static_cast<off_t>(at), SEEK_DATA);
      if (data < 0 && errno == ENXIO) break;
      if (data > 0) at = static_cast<std::size_t>(data);
      const std::size_t size = std::min(kPiece, memory.size() - at);
      read_all(fd.get(), memory.subspan(at, size), at);
      at += size;
    }
  } catch (const SystemError& error) {
    fail(errno_text(error.error()));
  }
  progress.finish();
}

bool save_memory(const ExportSpec& spec, std::span<const std::byte> memory,
                 SavePlace& place) noexcept {
  try {
    Progress progress(
        {fmt::format("export '{}'", spec.name), fmt::format("saving to {}:", spec.save), "saved"},
        memory.size(), standard_progress_output());
    if (::ftruncate(place.fd(), static_cast<off_t>(memory.size())) != 0) {
      throw SystemError("size", errno);
    }
    for (std::size_t at = 0; at < memory.size();) {
      const std::size_t size = std::min(kPiece, memory.size() - at);
      write_piece(place.fd(), memory.subspan(at, size), at);
      progress.show(at += size);
    }
    place.take_place();
    progress.finish();
    return true;
  } catch (const std::exception& error) {
    spdlog::error("export '{}': what is in memory was not saved to {}: {}", spec.name, spec.save,
                  error.what());
    return false;
  }
}

}  // namespace rdmablk::target
