#include "fuse/image_node.h"

#include <algorithm>
#include <utility>

#include "common/units.h"

namespace rdmablk::fuse {

namespace {

/// What stat(2) recommends. The kernel makes it the inode's block size, which is best a page.
constexpr unsigned kBlockSize = 4096;

/// st_blocks of an image. Where the holes are is not known without asking the target, but cp and
/// tar look for holes only in a file that takes less space than its size: so one block is missing.
blkcnt_t blocks_of(std::uint64_t size, bool has_holes) {
  const auto blocks = static_cast<blkcnt_t>(size / kSectorSize);
  return has_holes ? std::max<blkcnt_t>(blocks - 1, 1) : blocks;
}

/// A directory that those may enter who may read the file in it.
mode_t directory_mode(mode_t file_mode) {
  const mode_t readers = file_mode & 0444U;
  return 0500U | readers | readers >> 2U;
}

}  // namespace

ImageNode::ImageNode(Layout layout, Attributes attributes)
    : attributes_(std::move(attributes)),
      size_(attributes_.size),
      image_(layout == Layout::file ? FUSE_ROOT_ID : FUSE_ROOT_ID + 1) {
  ::clock_gettime(CLOCK_REALTIME, &mounted_at_);
}

struct stat ImageNode::status(fuse_ino_t node) const noexcept {
  struct stat status {};
  status.st_ino = node;
  status.st_uid = attributes_.uid;
  status.st_gid = attributes_.gid;
  status.st_blksize = kBlockSize;
  status.st_atim = status.st_mtim = status.st_ctim = mounted_at_;
  if (is_directory(node)) {
    status.st_mode = S_IFDIR | directory_mode(attributes_.mode);
    status.st_nlink = 2;
  } else {
    status.st_mode = S_IFREG | attributes_.mode;
    status.st_nlink = 1;
    const std::uint64_t bytes = size();
    status.st_size = static_cast<off_t>(bytes);
    status.st_blocks = blocks_of(bytes, attributes_.has_holes);
  }
  return status;
}

struct statvfs ImageNode::file_system_status() const noexcept {
  struct statvfs status {};
  status.f_bsize = kBlockSize;
  status.f_frsize = kSectorSize;
  status.f_blocks = size() / kSectorSize;
  status.f_files = 1;
  status.f_namemax = 255;
  return status;
}

}  // namespace rdmablk::fuse
