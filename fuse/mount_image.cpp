#include "fuse/mount_image.h"

#include <cerrno>

#include "common/mount_image.h"

namespace rdmablk::fuse {

void tell_image(fuse_req_t request, const FileSystem& file_system, std::size_t size) {
  using mount_image::Image;
  if (size < sizeof(Image)) {
    fuse_reply_err(request, EINVAL);
    return;
  }
  Image image{};
  image.version = Image::kVersion;
  image.read_only = file_system.read_only ? 1 : 0;
  image.size = file_system.node.size();
  image.block_size = file_system.source->image().info().block_size;
  image.uuid = file_system.source->uuid();
  fuse_reply_ioctl(request, 0, &image, sizeof image);
}

}  // namespace rdmablk::fuse
