#pragma once

#include <sys/stat.h>

#include <string>

#include "common/unique_fd.h"
#include "initiator/image.h"

namespace rdmablk::copy {

/// A file or block device of this host.
class DiskImage final : public initiator::Image {
 public:
  /// Throws Error when it cannot be opened, or is neither.
  static std::unique_ptr<DiskImage> open_for_reading(const std::string& path);

  /// Makes the file when there is none; it is removed again with the image unless begin() comes
  /// before. Nothing else is changed yet. A block device must not be in use. Throws Error.
  static std::unique_ptr<DiskImage> open_for_writing(const std::string& path);

  ~DiskImage() override;

  const initiator::ImageInfo& info() const noexcept override { return info_; }
  std::unique_ptr<initiator::Queue> make_queue(unsigned depth) override;
  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override;

  /// A block device keeps its size; a file takes any.
  bool is_block_device() const noexcept { return S_ISBLK(status_.st_mode); }

  /// Whether both are the same file or device.
  bool is_same_as(const DiskImage& other) const noexcept;

  /// From here on the file counts as the copy: it is emptied, and then as large as it will be, all
  /// a hole. Does nothing to a block device. Throws SystemError.
  void begin(std::uint64_t size);

  /// Sets the size of a file. Does nothing to a block device. Throws SystemError.
  void set_size(std::uint64_t size);

  /// Has later reads come from the disk, as far as the kernel may.
  void forget_cached() noexcept;

 private:
  DiskImage(std::string path, UniqueFd fd, bool is_new);

  initiator::ImageInfo info_;
  UniqueFd fd_;
  bool is_new_;
  struct stat status_ {};
};

}  // namespace rdmablk::copy
