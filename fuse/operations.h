#pragma once

#include <fuse3/fuse_lowlevel.h>

#include <string>

#include "fuse/image_node.h"
#include "fuse/image_source.h"
#include "fuse/worker_team.h"

namespace rdmablk::fuse {

/// What the operations know of the file system; the session's user data.
struct FileSystem {
  ImageNode node;
  bool read_only = false;
  bool flush_is_free = false;        ///< fsync(2) has nothing to do
  bool has_holes = false;            ///< lseek(2) may find holes, and fallocate(2) cannot fill them
  unsigned max_background = 0;       ///< asynchronous requests that the kernel may have outstanding
  ImageSource* source = nullptr;     ///< for ioctl(2); outlives the session
  const WorkerTeam* team = nullptr;  ///< the same
  std::string uri{};                 ///< of the export; empty: there is no target
};

/// What libfuse calls for the requests of the kernel, on a worker's thread (Worker::current()),
/// with a FileSystem as user data. All of them answer at once or submit to the worker's queue.
///
/// The image behaves as a file whose size only the target changes:
/// - read: short at the end, nothing behind it. write: short at the end, ENOSPC from there on.
/// - truncate(2), ftruncate(2) to another size: EPERM. O_TRUNC is ignored: the kernel passes it on
///   as truncate(path, 0), so that is ignored, too; telling libfuse to handle O_TRUNC in open would
///   make the kernel believe that the size is 0 until it asks again, and asynchronous direct reads
///   (a loop device's) end there.
/// - utimensat(2) is accepted and ignored; chmod(2), chown(2) to something else: EPERM.
/// - fsync(2), fdatasync(2): flush. close(2): nothing, no write is held back. Writes to a file
///   opened with O_SYNC or O_DSYNC, and with RWF_DSYNC, are durable.
/// - fallocate(2): FALLOC_FL_PUNCH_HOLE discards and FALLOC_FL_ZERO_RANGE writes zeroes, as far as
///   the image goes; mode 0 succeeds within it, ENOSPC beyond, but EOPNOTSUPP if the image may have
///   holes, as nothing would be allocated; others EOPNOTSUPP.
/// - lseek(2) with SEEK_DATA, SEEK_HOLE: as the image's map says, if it may have holes; otherwise
///   all of it is data (by the kernel, after ENOSYS).
/// - ioctl(2): as common/mount_control.h says; others ENOTTY.
/// - create, link, unlink, rename, mkdir: EPERM.
const fuse_lowlevel_ops& operations();

}  // namespace rdmablk::fuse
