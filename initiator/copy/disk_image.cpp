#include "initiator/copy/disk_image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/error.h"
#include "initiator/copy/disk_queue.h"

namespace rdmablk::copy {
namespace {

constexpr std::uint32_t kBlockSize = 4096;

std::uint64_t size_of_device(int fd, const std::string& path) {
  std::uint64_t size = 0;
  if (::ioctl(fd, BLKGETSIZE64, &size) != 0) {
    throw SystemError(fmt::format("ask for the size of {}", path), errno);
  }
  return size;
}

/// Refuses what is neither a file nor a block device before it is opened: a FIFO would block, a
/// tape be wound.
void check_kind(mode_t mode, const std::string& path) {
  if (S_ISREG(mode) || S_ISBLK(mode)) return;
  throw Error(fmt::format(
      "cannot use {}: it is {}, neither a file nor a block device; '-' is standard input or output",
      path, S_ISDIR(mode) ? "a directory" : "something else"));
}

/// Keeps others away, as they do: a target from the file of an export, QEMU from a disk. Released
/// with the descriptor.
void lock(int fd, const std::string& path) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const auto is_held = [] { return errno == EAGAIN || errno == EACCES; };  // or there are no locks
  if ((::fcntl(fd, F_OFD_SETLK, &whole) == 0 || !is_held()) &&
      (::flock(fd, LOCK_EX | LOCK_NB) == 0 || !is_held())) {
    return;
  }
  throw Error(fmt::format(
      "cannot write {}: another program has locked it, as a target locks the file of an export "
      "that it serves (`lslocks` shows who); write to the export instead, or end that program",
      path));
}

}  // namespace

std::unique_ptr<DiskImage> DiskImage::open_for_reading(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) check_kind(status.st_mode, path);
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw SystemError(fmt::format("open {}", path), errno);
  return std::unique_ptr<DiskImage>(new DiskImage(path, std::move(fd), false));
}

std::unique_ptr<DiskImage> DiskImage::open_for_writing(const std::string& path) {
  constexpr mode_t kMode = 0666;  // as of all that is made, less the umask
  struct stat status {};
  const bool is_there = ::stat(path.c_str(), &status) == 0;
  if (is_there) check_kind(status.st_mode, path);
  const bool is_device = is_there && S_ISBLK(status.st_mode);
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | (is_device ? O_EXCL : O_CREAT), kMode));
  if (!fd && errno == EBUSY) {
    throw Error(
        fmt::format("cannot write {}: it is in use: mounted, or part of another device", path));
  }
  if (!fd) throw SystemError(fmt::format("open {} for writing", path), errno);
  if (!is_device) lock(fd.get(), path);
  return std::unique_ptr<DiskImage>(new DiskImage(path, std::move(fd), !is_there));
}

DiskImage::DiskImage(std::string path, UniqueFd fd, bool is_new)
    : fd_(std::move(fd)), is_new_(is_new) {
  if (::fstat(fd_.get(), &status_) != 0) throw SystemError(fmt::format("look at {}", path), errno);
  check_kind(status_.st_mode, path);
  info_.size = is_block_device() ? size_of_device(fd_.get(), path)
                                 : static_cast<std::uint64_t>(status_.st_size);
  info_.name = std::move(path);
  info_.block_size = kBlockSize;
  info_.can_discard = true;
  info_.has_holes = !is_block_device();
}

DiskImage::~DiskImage() {
  if (is_new_) ::unlink(info_.name.c_str());
}

std::unique_ptr<initiator::Queue> DiskImage::make_queue(unsigned depth) {
  return std::make_unique<DiskQueue>(fd_.get(), depth);
}

std::unique_ptr<initiator::RequestBuffers> DiskImage::make_buffers(std::size_t bytes) {
  return std::make_unique<initiator::RequestBuffers>(bytes);
}

bool DiskImage::is_same_as(const DiskImage& other) const noexcept {
  if (is_block_device() && other.is_block_device()) {
    return status_.st_rdev == other.status_.st_rdev;
  }
  return status_.st_dev == other.status_.st_dev && status_.st_ino == other.status_.st_ino;
}

void DiskImage::begin(std::uint64_t size) {
  set_size(0);
  set_size(size);
  is_new_ = false;
}

void DiskImage::set_size(std::uint64_t size) {
  if (is_block_device()) return;
  if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) {
    throw SystemError(fmt::format("give {} a size of {} bytes", info_.name, size), errno);
  }
}

void DiskImage::forget_cached() noexcept {
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

}  // namespace rdmablk::copy
