#include "fuse/image_node.h"

#include <gtest/gtest.h>

namespace rdmablk::fuse {
namespace {

ImageNode::Attributes attributes(mode_t mode) {
  return {.name = "disk", .size = 3 * 512, .mode = mode, .uid = 7, .gid = 8};
}

TEST(ImageNode, IsTheRootOnAFile) {
  const ImageNode node(Layout::file, attributes(0640));
  EXPECT_EQ(node.image(), static_cast<fuse_ino_t>(FUSE_ROOT_ID));
  const struct stat status = node.status(FUSE_ROOT_ID);
  EXPECT_EQ(status.st_mode, S_IFREG | 0640U);
  EXPECT_EQ(status.st_size, 3 * 512);
  EXPECT_EQ(status.st_blocks, 3);
  EXPECT_EQ(status.st_uid, 7U);
  EXPECT_EQ(status.st_gid, 8U);
  EXPECT_EQ(status.st_nlink, 1U);
  EXPECT_GT(status.st_mtim.tv_sec, 0);
}

TEST(ImageNode, TakesLessThanItsSizeWhenItMayHaveHoles) {
  ImageNode::Attributes sparse = attributes(0600);
  sparse.has_holes = true;
  const auto blocks = [&] {
    return ImageNode(Layout::file, sparse).status(FUSE_ROOT_ID).st_blocks;
  };
  EXPECT_EQ(blocks(), 2);
  sparse.size = 512;
  EXPECT_EQ(blocks(), 1);
}

TEST(ImageNode, IsBelowTheRootInADirectory) {
  const ImageNode node(Layout::directory, attributes(0600));
  EXPECT_TRUE(node.is_directory(FUSE_ROOT_ID));
  EXPECT_TRUE(node.is_image(node.image()));
  EXPECT_NE(node.image(), static_cast<fuse_ino_t>(FUSE_ROOT_ID));
  EXPECT_EQ(node.status(FUSE_ROOT_ID).st_mode, S_IFDIR | 0500U);
  EXPECT_EQ(node.status(node.image()).st_mode, S_IFREG | 0600U);
}

TEST(ImageNode, DirectoryIsOpenToReadersOfTheImage) {
  const auto mode_of_directory = [](mode_t mode) {
    return ImageNode(Layout::directory, attributes(mode)).status(FUSE_ROOT_ID).st_mode & 0777U;
  };
  EXPECT_EQ(mode_of_directory(0644), 0555U);
  EXPECT_EQ(mode_of_directory(0640), 0550U);
  EXPECT_EQ(mode_of_directory(0200), 0500U);
}

TEST(ImageNode, FileSystemIsFull) {
  const ImageNode node(Layout::file, attributes(0600));
  const struct statvfs status = node.file_system_status();
  EXPECT_EQ(status.f_blocks * status.f_frsize, node.size());
  EXPECT_EQ(status.f_bfree, 0U);
  EXPECT_EQ(status.f_bavail, 0U);
  EXPECT_EQ(status.f_files, 1U);
}

}  // namespace
}  // namespace rdmablk::fuse
