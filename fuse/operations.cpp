#include "fuse/operations.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fuse.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "fuse/mount_control.h"
#include "fuse/slot.h"
#include "fuse/worker.h"

namespace rdmablk::fuse {

namespace {

using initiator::Operation;

/// Seconds that the kernel may rely on names and attributes: they do not change, but for the size,
/// which it is told of.
constexpr double kForever = 1e9;

const FileSystem& file_system(fuse_req_t request) {
  return *static_cast<const FileSystem*>(fuse_req_userdata(request));
}

bool for_writing(const fuse_file_info& file) {
  return (file.flags & O_ACCMODE) != O_RDONLY;
}

/// Whether what is written to an open file shall be on stable storage at once.
bool is_synchronous(int flags) {
  return (flags & O_DSYNC) != 0;  // a part of O_SYNC
}

/// What an open file's handle says: the kernel sends the flags with writes only.
constexpr std::uint64_t kSynchronous = 1;

void init(void* user_data, fuse_conn_info* connection) {
  const auto& fs = *static_cast<const FileSystem*>(user_data);
  connection->max_write = kMaxPayload;
  connection->max_read = kMaxPayload;
  connection->max_background = fs.max_background;
  connection->congestion_threshold = fs.max_background;
  connection->want |= connection->capable & FUSE_CAP_ASYNC_DIO;
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_SPLICE_READ |
                                             FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

void lookup(fuse_req_t request, fuse_ino_t parent, const char* name) {
  const ImageNode& node = file_system(request).node;
  fuse_entry_param entry{};
  entry.entry_timeout = kForever;
  entry.attr_timeout = kForever;
  // Node 0 stands for a name that does not exist, and will not.
  if (node.is_directory(parent) && node.name() == name) {
    entry.ino = node.image();
    entry.attr = node.status(entry.ino);
  }
  fuse_reply_entry(request, &entry);
}

void get_attributes(fuse_req_t request, fuse_ino_t ino, fuse_file_info* /*file*/) {
  const struct stat status = file_system(request).node.status(ino);
  fuse_reply_attr(request, &status, kForever);
}

/// Whether setattr asks for something else than what is.
bool changes_owner_or_mode(const struct stat& wanted, const struct stat& status, int what) {
  constexpr mode_t kPermissions = 07777;
  return ((what & FUSE_SET_ATTR_MODE) != 0 &&
          (wanted.st_mode & kPermissions) != (status.st_mode & kPermissions)) ||
         ((what & FUSE_SET_ATTR_UID) != 0 && wanted.st_uid != status.st_uid) ||
         ((what & FUSE_SET_ATTR_GID) != 0 && wanted.st_gid != status.st_gid);
}

bool changes_size(const struct stat& wanted, const struct stat& status, int what,
                  const fuse_file_info* file) {
  if ((what & FUSE_SET_ATTR_SIZE) == 0 || wanted.st_size == status.st_size) return false;
  const bool is_open_with_truncation = wanted.st_size == 0 && file == nullptr;
  return !is_open_with_truncation;
}

void set_attributes(fuse_req_t request, fuse_ino_t ino, struct stat* wanted, int what,
                    fuse_file_info* file) {
  const struct stat status = file_system(request).node.status(ino);
  if (changes_size(*wanted, status, what, file) || changes_owner_or_mode(*wanted, status, what)) {
    fuse_reply_err(request, EPERM);
  } else {
    fuse_reply_attr(request, &status, kForever);
  }
}

void open(fuse_req_t request, fuse_ino_t /*ino*/, fuse_file_info* file) {
  if (file_system(request).read_only && for_writing(*file)) {
    fuse_reply_err(request, EROFS);
    return;
  }
  // Written by hand, as libfuse 3.14 has no field for some of the flags.
  fuse_open_out answer{};
  if (is_synchronous(file->flags)) answer.fh = kSynchronous;
  answer.open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES | FOPEN_NOFLUSH;
  fuse_reply_buf(request, reinterpret_cast<const char*>(&answer), sizeof answer);
}

void read(fuse_req_t request, fuse_ino_t /*ino*/, std::size_t size, off_t offset,
          fuse_file_info* /*file*/) {
  const std::uint64_t end = file_system(request).node.size();
  const auto start = static_cast<std::uint64_t>(offset);
  if (start >= end || size == 0) {
    fuse_reply_buf(request, nullptr, 0);
    return;
  }
  const auto length = std::min<std::uint64_t>({size, end - start, kMaxPayload});
  Worker::current().submit(request, Operation::read, start, length);
}

void write(fuse_req_t request, fuse_ino_t /*ino*/, const char* /*data: in the slot*/,
           std::size_t size, off_t offset, fuse_file_info* file) {
  const FileSystem& fs = file_system(request);
  const std::uint64_t end = fs.node.size();
  const auto start = static_cast<std::uint64_t>(offset);
  if (fs.read_only) {
    fuse_reply_err(request, EROFS);
  } else if (size == 0) {
    fuse_reply_write(request, 0);
  } else if (start >= end) {
    fuse_reply_err(request, ENOSPC);
  } else {
    Worker::current().submit(request, Operation::write, start,
                             std::min<std::uint64_t>(size, end - start),
                             is_synchronous(file->flags));
  }
}

void synchronize(fuse_req_t request, fuse_ino_t /*ino*/, int /*data_only*/,
                 fuse_file_info* /*file*/) {
  if (file_system(request).flush_is_free) {
    fuse_reply_err(request, 0);
  } else {
    Worker::current().submit(request, Operation::flush, 0, 0);
  }
}

void allocate(fuse_req_t request, fuse_ino_t /*ino*/, int mode, off_t offset, off_t length,
              fuse_file_info* file) {
  const FileSystem& fs = file_system(request);
  const std::uint64_t size = fs.node.size();
  const auto start = static_cast<std::uint64_t>(offset);
  const auto wanted = static_cast<std::uint64_t>(length);
  const std::uint64_t within = start < size ? std::min(wanted, size - start) : 0;
  const bool grows = within < wanted && (mode & FALLOC_FL_KEEP_SIZE) == 0;
  const int kind = mode & ~FALLOC_FL_KEEP_SIZE;
  const bool zeroes = kind == FALLOC_FL_PUNCH_HOLE || kind == FALLOC_FL_ZERO_RANGE;
  // The target cannot be asked for space: success would be a promise that a later write breaks.
  const bool allocates_holes = kind == 0 && fs.has_holes;
  if ((!zeroes && kind != 0) || allocates_holes) {
    fuse_reply_err(request, EOPNOTSUPP);
  } else if (fs.read_only) {
    fuse_reply_err(request, EROFS);
  } else if (grows) {
    fuse_reply_err(request, ENOSPC);
  } else if (zeroes && within > 0) {
    const bool durable = (file->fh & kSynchronous) != 0;
    const auto operation = kind == FALLOC_FL_PUNCH_HOLE ? Operation::discard : Operation::zero;
    Worker::current().submit(request, operation, start, within, durable);
  } else {
    fuse_reply_err(request, 0);
  }
}

void seek(fuse_req_t request, fuse_ino_t ino, off_t offset, int whence, fuse_file_info* /*file*/) {
  const FileSystem& fs = file_system(request);
  const auto start = static_cast<std::uint64_t>(offset);
  const std::uint64_t end = fs.node.size();
  if (!fs.has_holes || !fs.node.is_image(ino)) {
    fuse_reply_err(request, ENOSYS);
  } else if (whence != SEEK_DATA && whence != SEEK_HOLE) {
    fuse_reply_err(request, EINVAL);
  } else if (start >= end) {
    fuse_reply_err(request, ENXIO);
  } else {
    Worker::current().seek(request, whence == SEEK_HOLE, start, end - start);
  }
}

/// An answer to readdir, in memory of the worker.
class DirectoryPage {
 public:
  DirectoryPage(fuse_req_t request, std::size_t size)
      : request_(request),
        memory_(Worker::current().scratch().first(std::min(size, kMaxPayload))) {}

  /// Adds an entry.
  /// @param next where reading goes on behind it. @return false when there is no room.
  bool add(const char* name, const struct stat& status, off_t next) {
    const auto room = memory_.subspan(used_);
    const std::size_t size = fuse_add_direntry(request_, reinterpret_cast<char*>(room.data()),
                                               room.size(), name, &status, next);
    if (size > room.size()) return false;
    used_ += size;
    return true;
  }

  void reply() const {
    fuse_reply_buf(request_, reinterpret_cast<const char*>(memory_.data()), used_);
  }

 private:
  fuse_req_t request_;
  std::span<std::byte> memory_;
  std::size_t used_ = 0;
};

void read_directory(fuse_req_t request, fuse_ino_t ino, std::size_t size, off_t offset,
                    fuse_file_info* /*file*/) {
  const ImageNode& node = file_system(request).node;
  if (!node.is_directory(ino)) {
    fuse_reply_err(request, ENOTDIR);
    return;
  }
  const std::array<const char*, 3> names{".", "..", node.name().c_str()};
  DirectoryPage page(request, size);
  for (auto i = static_cast<std::size_t>(std::max<off_t>(offset, 0)); i < names.size(); ++i) {
    const fuse_ino_t target = i == 2 ? node.image() : ino;
    if (!page.add(names[i], node.status(target), static_cast<off_t>(i) + 1)) break;
  }
  page.reply();
}

void file_system_status(fuse_req_t request, fuse_ino_t /*ino*/) {
  const struct statvfs status = file_system(request).node.file_system_status();
  fuse_reply_statfs(request, &status);
}

void access(fuse_req_t request, fuse_ino_t ino, int mask) {
  const FileSystem& fs = file_system(request);
  const bool writes = (mask & W_OK) != 0 && fs.node.is_image(ino);
  fuse_reply_err(request, writes && fs.read_only ? EROFS : 0);
}

/// Answers an operation that would change the directory.
template <typename... Arguments>
void refuse(fuse_req_t request, Arguments... /*ignored*/) {
  fuse_reply_err(request, EPERM);
}

/// Answers an operation that has nothing to do.
template <typename... Arguments>
void accept(fuse_req_t request, Arguments... /*ignored*/) {
  fuse_reply_err(request, 0);
}

fuse_lowlevel_ops make_operations() {
  fuse_lowlevel_ops ops{};
  ops.init = &init;
  ops.lookup = &lookup;
  ops.getattr = &get_attributes;
  ops.setattr = &set_attributes;
  ops.open = &open;
  ops.read = &read;
  ops.write = &write;
  ops.flush = &accept;
  ops.release = &accept;
  ops.fsync = &synchronize;
  ops.fallocate = &allocate;
  ops.lseek = &seek;
  ops.ioctl = &control;
  ops.readdir = &read_directory;
  ops.fsyncdir = &accept;
  ops.statfs = &file_system_status;
  ops.access = &access;
  ops.mknod = &refuse;
  ops.mkdir = &refuse;
  ops.unlink = &refuse;
  ops.rmdir = &refuse;
  ops.symlink = &refuse;
  ops.rename = &refuse;
  ops.link = &refuse;
  ops.create = &refuse;
  return ops;
}

}  // namespace

const fuse_lowlevel_ops& operations() {
  static const fuse_lowlevel_ops kOperations = make_operations();
  return kOperations;
}

}  // namespace rdmablk::fuse
