#pragma once

#include <fuse3/fuse_lowlevel.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>
#include <string>

namespace rdmablk::fuse {

/// What is mounted over the mount point.
enum class Layout {
  file,       ///< the image itself: the root node is the image
  directory,  ///< a directory that holds the image as its only file
};

/// The nodes that the kernel sees: the image and, in a directory, its directory. Constant while
/// mounted, but for the size of the image.
class ImageNode {
 public:
  struct Attributes {
    std::string name;        ///< of the file in a directory
    std::uint64_t size = 0;  ///< bytes, at first
    mode_t mode = 0600;      ///< permission bits of the image
    uid_t uid = 0;
    gid_t gid = 0;
    bool has_holes = false;  ///< lseek(2) may find holes
  };

  ImageNode(Layout layout, Attributes attributes);

  const std::string& name() const noexcept { return attributes_.name; }
  std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  /// Any thread.
  void set_size(std::uint64_t size) noexcept { size_.store(size, std::memory_order_relaxed); }

  bool is_image(fuse_ino_t node) const noexcept { return node == image_; }
  bool is_directory(fuse_ino_t node) const noexcept { return node != image_; }

  /// The node number of the image.
  fuse_ino_t image() const noexcept { return image_; }

  /// stat(2) of a node.
  struct stat status(fuse_ino_t node) const noexcept;

  /// statvfs(3) of the file system: it is full, with one file.
  struct statvfs file_system_status() const noexcept;

 private:
  Attributes attributes_;
  std::atomic<std::uint64_t> size_;
  fuse_ino_t image_;
  timespec mounted_at_{};
};

}  // namespace rdmablk::fuse
