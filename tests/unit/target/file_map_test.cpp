#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "scratch_directory.h"
#include "target/backing_file.h"

namespace rdmablk::target {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

MATCHER_P(Data, length, "") {
  return !arg.is_hole && arg.length == length;
}
MATCHER_P(Hole, length, "") {
  return arg.is_hole && arg.length == length;
}

/// A file of 8 MiB with data in the 2nd, 3rd and 6th.
class FileMapTest : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string make(const ScratchDirectory& scratch) {
    const auto path = scratch.make("disk.img", 8 * kMiB);
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    const std::vector<char> data(kMiB, 'x');
    for (const int at : {1, 2, 5}) {
      EXPECT_EQ(::pwrite(fd.get(), data.data(), kMiB, at * static_cast<off_t>(kMiB)), kMiB);
    }
    return path;
  }
  std::vector<protocol::Extent> map(std::uint64_t offset, std::uint64_t length,
                                    std::size_t room = 16) {
    std::vector<protocol::Extent> into(room);
    std::size_t count = 99;
    EXPECT_EQ(file_.map(offset, length, into, count), 0);
    into.resize(count);
    return into;
  }

  ScratchDirectory scratch_{GetParam()};
  BackingFile file_{parse_export_spec("disk=file:" + make(scratch_))};
};

INSTANTIATE_TEST_SUITE_P(FileSystems, FileMapTest, ::testing::Values("/tmp", "/dev/shm"));

TEST_P(FileMapTest, TellsDataFromHoles) {
  EXPECT_THAT(map(0, 8 * kMiB),
              ElementsAre(Hole(kMiB), Data(2 * kMiB), Hole(2 * kMiB), Data(kMiB), Hole(2 * kMiB)));
}

TEST_P(FileMapTest, KeepsToTheRange) {
  EXPECT_THAT(map(kMiB + 1, kMiB), ElementsAre(Data(kMiB)));
  EXPECT_THAT(map(3 * kMiB - 10, 20), ElementsAre(Data(10U), Hole(10U)));
  EXPECT_THAT(map(7 * kMiB, 1), ElementsAre(Hole(1U)));
}

TEST_P(FileMapTest, EndsWithTheFile) {
  EXPECT_THAT(map(6 * kMiB, ~std::uint64_t{0}), ElementsAre(Hole(2 * kMiB)));
  EXPECT_THAT(map(8 * kMiB, kMiB), IsEmpty());
  EXPECT_THAT(map(~std::uint64_t{0}, kMiB), IsEmpty());
  EXPECT_THAT(map(0, 0), IsEmpty());
}

TEST_P(FileMapTest, FillsTheRoomThatThereIs) {
  EXPECT_THAT(map(0, 8 * kMiB, 2), ElementsAre(Hole(kMiB), Data(2 * kMiB)));
  EXPECT_THAT(map(0, 8 * kMiB, 0), IsEmpty());
}

TEST_P(FileMapTest, TakesWhatSomebodyCutOffForData) {
  ASSERT_EQ(::ftruncate(file_.fd(), static_cast<off_t>(2 * kMiB)), 0);
  EXPECT_THAT(map(kMiB, 4 * kMiB), ElementsAre(Data(4 * kMiB)));
}

}  // namespace
}  // namespace rdmablk::target
