#include "target/saved_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "error_of.h"
#include "file_size_limit.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSize = 9 * kMiB + 512;  // three pieces, the last one short

class SavedMemoryTest : public ::testing::Test {
 protected:
  void put(std::size_t offset, std::string_view text) {
    std::transform(text.begin(), text.end(), memory_.begin() + static_cast<std::ptrdiff_t>(offset),
                   [](char c) { return static_cast<std::byte>(c); });
  }
  bool save() {
    SavePlace place(spec_);
    return save_memory(spec_, memory_, place);
  }
  std::vector<std::byte> loaded() const {
    std::vector<std::byte> memory(kSize);
    load_saved_memory(spec_, memory);
    return memory;
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.path("saved.img");
  ExportSpec spec_ = parse_export_spec("disk=memory:" + std::to_string(kSize) + ",save=" + path_);
  std::vector<std::byte> memory_ = std::vector<std::byte>(kSize);
};

TEST_F(SavedMemoryTest, IsLoadedAsItWas) {
  put(0, "first");
  put(64 * 1024 - 1, "across blocks");
  put(4 * kMiB - 3, "across pieces");
  put(kSize - 4, "last");
  ASSERT_TRUE(save());
  EXPECT_EQ(std::filesystem::file_size(path_), kSize);
  EXPECT_EQ(loaded(), memory_);
}

TEST_F(SavedMemoryTest, LeavesHolesWhereItIsZero) {
  put(5 * kMiB, "x");
  ASSERT_TRUE(save());
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_LE(status.st_blocks * 512, 256 * 1024);
  EXPECT_EQ(loaded(), memory_);
}

TEST_F(SavedMemoryTest, IsLoadedWhenItIsZero) {
  ASSERT_TRUE(save());
  EXPECT_EQ(loaded(), memory_);
}

TEST_F(SavedMemoryTest, TakesThePlaceOfTheOneBefore) {
  put(100, "old");
  ASSERT_TRUE(save());
  put(100, "\0\0\0new");
  ASSERT_TRUE(save());
  EXPECT_EQ(loaded(), memory_);
  std::filesystem::remove(path_);
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(SavedMemoryTest, LeavesTheOneBeforeAloneWhenItFails) {
  put(100, "old");
  ASSERT_TRUE(save());
  const auto old = memory_;
  put(kSize - 10, "new");
  {
    const FileSizeLimit limit(kMiB);
    EXPECT_FALSE(save());
  }
  EXPECT_EQ(loaded(), old);
  std::filesystem::remove(path_);
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(SavedMemoryTest, WritesToNothingThatOthersHavePutInItsWay) {
  const std::string others = scratch_.make("others", 5);
  std::filesystem::create_hard_link(others, path_ + ".rdmablk-new");
  put(100, "secret");
  ASSERT_TRUE(save());
  EXPECT_EQ(std::filesystem::file_size(others), 5U);
  EXPECT_EQ(loaded(), memory_);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & ALLPERMS, S_IRUSR | S_IWUSR);
}

TEST_F(SavedMemoryTest, RefusesAFileOfAnotherSize) {
  for (const std::size_t size : {kSize - 512, kSize + 512, std::size_t{0}}) {
    std::filesystem::remove(path_);
    scratch_.make("saved.img", size);
    EXPECT_THAT(error_of<Error>([&] { loaded(); }),
                AllOf(HasSubstr("'disk'"), HasSubstr(path_), HasSubstr(std::to_string(size)),
                      HasSubstr(std::to_string(kSize))));
  }
}

TEST_F(SavedMemoryTest, RefusesWhatIsNoFile) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(error_of<Error>([&] { loaded(); }), HasSubstr("no regular file"));
}

}  // namespace
}  // namespace rdmablk::target
