#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/unique_fd.h"

namespace rdmablk::target {

/// A directory that goes away with the object.
class ScratchDirectory {
 public:
  /// @param base a file system that may be written.
  explicit ScratchDirectory(const std::string& base = ::testing::TempDir()) {
    std::string name = base + "/rdmablk-test-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr) << name;
    path_ = std::filesystem::canonical(name);
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  std::string path() const { return path_.string(); }
  std::string path(std::string_view name) const { return (path_ / name).string(); }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

  /// Makes a sparse file.
  std::string make(std::string_view name, std::uint64_t size) const {
    const std::string file = path(name);
    const UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(size)), 0);
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace rdmablk::target
