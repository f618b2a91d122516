#include "fuse/mount_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "common/error.h"

namespace rdmablk::fuse {
namespace {

using testing::HasSubstr;

class MountPointTest : public testing::Test {
 protected:
  MountPointTest() {
    std::string name = std::filesystem::temp_directory_path() / "rdmablk-test-XXXXXX";
    directory_ = std::filesystem::canonical(::mkdtemp(name.data()));
    std::filesystem::create_directory(path("empty"));
    std::filesystem::create_directories(path("full/inside"));
    std::ofstream(path("file"));
    std::ofstream(path("data")) << "precious";
    std::filesystem::create_symlink("file", path("link"));
  }
  ~MountPointTest() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ / name; }

  std::string refusal(const std::string& argument) {
    try {
      prepare_mount_point(argument, note_);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  std::filesystem::path directory_;
  std::string note_;
};

TEST_F(MountPointTest, EmptyFile) {
  const MountPoint point = prepare_mount_point(path("file"), note_);
  EXPECT_EQ(point.path, path("file"));
  EXPECT_EQ(point.layout, Layout::file);
  EXPECT_EQ(point.image_path("disk"), path("file"));
  EXPECT_EQ(note_, "");
}

TEST_F(MountPointTest, EmptyDirectory) {
  const MountPoint point = prepare_mount_point(path("empty") + "//", note_);
  EXPECT_EQ(point.path, path("empty"));
  EXPECT_EQ(point.layout, Layout::directory);
  EXPECT_EQ(point.image_path("disk"), path("empty") + "/disk");
}

TEST_F(MountPointTest, SymbolicLinksAreResolved) {
  EXPECT_EQ(prepare_mount_point(path("link"), note_).path, path("file"));
  EXPECT_EQ(prepare_mount_point(path("full/../empty/."), note_).path, path("empty"));
}

TEST_F(MountPointTest, Missing) {
  EXPECT_THAT(refusal(path("missing")), HasSubstr("does not exist"));
  EXPECT_THAT(refusal(path("missing/file")), HasSubstr("does not exist"));
  EXPECT_THAT(refusal(path("file/below")), HasSubstr("Not a directory"));
}

TEST_F(MountPointTest, NotEmpty) {
  EXPECT_THAT(refusal(path("full")), HasSubstr("is not empty"));
  EXPECT_THAT(refusal(path("data")), HasSubstr("8 bytes"));
}

TEST_F(MountPointTest, NeitherFileNorDirectory) {
  EXPECT_THAT(refusal("/dev/null"), HasSubstr("neither a file nor a directory"));
}

}  // namespace
}  // namespace rdmablk::fuse
