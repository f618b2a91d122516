#include "target/backing_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/units.h"
#include "target/file_lock.h"

namespace rdmablk::target {
namespace {

/// How long is waited for a lock without a word: a daemon that has just ended holds it until the
/// kernel has cleared away its rings.
constexpr std::chrono::milliseconds kSilentWait{1000};

void lock(const ExportSpec& spec, int fd, const Patience& patience,
          std::chrono::milliseconds wait) {
  LockOutcome outcome = lock_file(fd, spec.read_only, Patience(std::min(wait, kSilentWait)));
  if (outcome == LockOutcome::held && wait > kSilentWait) {
    spdlog::info("export '{}': waiting for the lock on {}, which another program holds", spec.name,
                 spec.path);
    outcome = lock_file(fd, spec.read_only, patience);
  }
  switch (outcome) {
    case LockOutcome::locked:
      return;
    case LockOutcome::held:
      fail_export(spec, "another program or export has locked it (lslocks shows it)");
    case LockOutcome::unsupported:
      fail_export(spec, "its file system takes no locks, so that nothing keeps others away");
  }
}

std::uint64_t size_of(int fd, bool block_device) {
  if (block_device) {
    std::uint64_t size = 0;
    if (::ioctl(fd, BLKGETSIZE64, &size) == 0) return size;
  } else {
    struct stat status {};
    if (::fstat(fd, &status) == 0) return static_cast<std::uint64_t>(status.st_size);
  }
  throw SystemError("ask for the size of a file", errno);
}

/// Whether a block device takes no writes, though it may be opened for them.
bool is_protected(int fd) {
  int read_only = 0;
  return ::ioctl(fd, BLKROGET, &read_only) == 0 && read_only != 0;
}

}  // namespace

std::uint64_t checked_size(const ExportSpec& spec, const OpenedFile& file) {
  const std::uint64_t size = size_of(file.fd.get(), file.block_device);
  if (spec.file_size && size != *spec.file_size) {
    fail_export(spec, fmt::format("it has {} bytes, not the {} that size= says; what exists is not "
                                  "resized: leave size= out, or resize or remove it",
                                  size, *spec.file_size));
  }
  if (size == 0) fail_export(spec, "it is empty");
  if (size % kSectorSize != 0) {
    fail_export(spec,
                fmt::format("it has {} bytes, which is not a multiple of {}", size, kSectorSize));
  }
  return size;
}

DirectSupport choose_direct(const ExportSpec& spec, int fd, std::uint64_t size) {
  if (spec.direct == DirectIo::off) return {0, "direct=off"};
  DirectSupport found = enable_direct_io(fd, size);
  if (found.block == 0 && spec.direct == DirectIo::on) {
    fail_export(spec, fmt::format("direct=on is impossible: {}", found.reason));
  }
  return found;
}

void check_protection(const ExportSpec& spec, const OpenedFile& file) {
  if (file.block_device && !spec.read_only && is_protected(file.fd.get())) {
    fail_export(spec, "the device is read-only; export it with readonly");
  }
}

BackingFile::BackingFile(const ExportSpec& spec, std::chrono::milliseconds lock_wait)
    : path_(spec.path), read_only_(spec.read_only) {
  const Patience patience(lock_wait);
  OpenedFile file = open_export_file(spec, patience);
  lock(spec, file.fd.get(), patience, lock_wait);
  if (file.created) file.created->fill(spec);
  check_protection(spec, file);
  size_ = checked_size(spec, file);
  direct_ = choose_direct(spec, file.fd.get(), size_);
  block_device_ = file.block_device;
  fd_ = std::move(file.fd);
  if (file.created) created_.emplace(std::move(*file.created));
}

void BackingFile::keep() noexcept {
  if (created_) created_->keep();
}

void BackingFile::check_has(std::uint64_t size) const {
  const std::uint64_t found = size_of(fd_.get(), block_device_);
  if (size == found) return;
  throw Error(fmt::format("{} has {} bytes, which is the only size that it can be given: {}", path_,
                          found, block_device_ ? "resize the device first" : "it is only read"));
}

std::optional<std::uint64_t> BackingFile::found_size() const noexcept {
  try {
    return size_of(fd_.get(), block_device_);
  } catch (const Error& /*error*/) {
    return std::nullopt;
  }
}

/// Space first, and then the size at once: whoever is killed leaves the one size or the other.
void BackingFile::grow(std::uint64_t size, bool sparse) {
  const auto fail = [&](int error) {
    throw Error(
        fmt::format("cannot make {} {} long: {}", path_, format_size(size), errno_text(error)));
  };
  truncate();  // what was not cut off once is not to come back
  const auto begin = static_cast<off_t>(size_.load());
  const auto end = static_cast<off_t>(size);
  // Gives back what it got; what cannot be given back now is cut off before the next resize.
  const auto undo_and_fail = [&](int error) {
    [[maybe_unused]] const int result = ::ftruncate(fd_.get(), begin);
    fail(error);
  };
  if (!sparse && ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, begin, end - begin) != 0) {
    undo_and_fail(errno);
  }
  if (::ftruncate(fd_.get(), end) != 0) fail(errno);
  if (::fsync(fd_.get()) != 0) undo_and_fail(errno);
}

void BackingFile::truncate() {
  const std::uint64_t size = size_;
  if (size_of(fd_.get(), block_device_) == size) return;
  if (::ftruncate(fd_.get(), static_cast<off_t>(size)) == 0 && ::fsync(fd_.get()) == 0) return;
  throw Error(
      fmt::format("cannot make {} {} long: {}", path_, format_size(size), errno_text(errno)));
}

std::string_view BackingFile::base_name() const noexcept {
  const std::string_view path = path_;
  return path.substr(path.find_last_of('/') + 1);
}

std::string BackingFile::describe() const {
  return fmt::format("{}{}{}, {}", base_name(), block_device_ ? ", block device" : "",
                     read_only_ ? ", read-only" : "",
                     is_direct() ? fmt::format("direct, block {}", direct_.block)
                                 : fmt::format("buffered: {}", direct_.reason));
}

}  // namespace rdmablk::target
