#include "common/file_text.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

namespace rdmablk {
namespace {

TEST(FileTextTest, HasAll) {
  const auto path =
      std::filesystem::temp_directory_path() / ("rdmablk-text-" + std::to_string(::getpid()));
  const std::string text(10'000, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(read_file_text(path), text);
  std::filesystem::remove(path);
  EXPECT_TRUE(read_file_text("/proc/self/stat")->starts_with(std::to_string(::getpid())));
}

TEST(FileTextTest, WhatIsNotThereIsNothing) {
  EXPECT_EQ(read_file_text("/proc/0/stat"), std::nullopt);
  EXPECT_EQ(errno, ENOENT);
}

/// As with a process that ends after its file was opened.
TEST(FileTextTest, WhatCannotBeReadIsNothing) {
  EXPECT_EQ(read_file_text("/proc"), std::nullopt);
  EXPECT_EQ(errno, EISDIR);
}

}  // namespace
}  // namespace rdmablk
