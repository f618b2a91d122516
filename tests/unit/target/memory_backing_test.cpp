#include "target/memory_backing.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numaif.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "common/memory_mapping.h"
#include "error_of.h"
#include "target/machine_memory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::size_t kSize = (std::size_t{3} << 20) + 512;

class MemoryBackingTest : public ::testing::Test {
 protected:
  struct stat file_status() const {
    struct stat status {};
    ::fstat(memory_.fd(), &status);
    return status;
  }

  MemoryBacking memory_{"test", kSize, 0};
};

TEST_F(MemoryBackingTest, ServesExactlyItsSize) {
  EXPECT_EQ(memory_.bytes().size(), kSize);
  EXPECT_EQ(static_cast<std::size_t>(file_status().st_size), round_up(kSize, page_size()));
}

TEST_F(MemoryBackingTest, IsZero) {
  const auto bytes = memory_.bytes();
  EXPECT_TRUE(
      std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; }));
}

TEST_F(MemoryBackingTest, IsAllocatedBeforeItIsTouched) {
  EXPECT_GE(static_cast<std::size_t>(file_status().st_blocks) * 512, kSize);
  const std::size_t pages = round_up(kSize, page_size()) / page_size();
  std::vector<unsigned char> resident(pages);
  ASSERT_EQ(::mincore(memory_.bytes().data(), kSize, resident.data()), 0);
  EXPECT_TRUE(std::all_of(resident.begin(), resident.end(), [](auto page) { return page & 1U; }));
}

TEST_F(MemoryBackingTest, CannotShrink) {
  EXPECT_NE(::ftruncate(memory_.fd(), 4096), 0);
  EXPECT_EQ(errno, EPERM);
}

TEST_F(MemoryBackingTest, IsTheFilesContent) {
  memory_.bytes().back() = std::byte{0x5a};
  std::byte read{};
  ASSERT_EQ(::pread(memory_.fd(), &read, 1, kSize - 1), 1);
  EXPECT_EQ(read, std::byte{0x5a});
}

bool is_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

TEST_F(MemoryBackingTest, GrowsInPlaceByZeroes) {
  const std::byte* const start = memory_.bytes().data();
  std::ranges::fill(memory_.bytes(), std::byte{1});
  // What lies behind the end belongs to nobody, and may be anything.
  memory_.bytes().data()[kSize] = std::byte{2};
  memory_.grow(2 * kSize);
  EXPECT_EQ(memory_.bytes().data(), start);
  ASSERT_EQ(memory_.bytes().size(), 2 * kSize);
  EXPECT_EQ(memory_.bytes()[kSize - 1], std::byte{1});
  EXPECT_TRUE(is_zero(memory_.bytes().subspan(kSize)));
}

TEST_F(MemoryBackingTest, GivesBackWhatIsCutOffAndKeepsItsFile) {
  std::ranges::fill(memory_.bytes(), std::byte{1});
  const auto length = file_status().st_size;
  memory_.shrink(page_size() + 512);
  EXPECT_EQ(memory_.bytes().size(), page_size() + 512);
  EXPECT_EQ(file_status().st_size, length);
  EXPECT_LE(static_cast<std::size_t>(file_status().st_blocks) * 512, 2 * page_size());
  memory_.grow(kSize);
  EXPECT_EQ(memory_.bytes()[page_size() + 511], std::byte{1});
  EXPECT_TRUE(is_zero(memory_.bytes().subspan(page_size() + 512)));
}

TEST_F(MemoryBackingTest, StaysAsItWasWhenItCannotGrow) {
  EXPECT_THAT(error_of<Error>([&] { memory_.grow(std::uint64_t{1} << 50); }), HasSubstr("test"));
  EXPECT_EQ(memory_.bytes().size(), kSize);
  memory_.grow(kSize + page_size());
  EXPECT_TRUE(is_zero(memory_.bytes()));
}

TEST_F(MemoryBackingTest, TakenOverLeavesWhatWasBehindItsEnd) {
  std::ranges::fill(memory_.bytes(), std::byte{1});
  const MemoryBacking next("test", memory_.release(), kSize, 0, 4096 + 512);
  EXPECT_EQ(next.bytes()[4096 + 511], std::byte{1});
  EXPECT_TRUE(is_zero(next.bytes().subspan(4096 + 512)));
}

/// The flags of a mapping of this process, as proc_pid_smaps(5) has them.
std::string flags_of(const std::string& mapping) {
  std::ifstream smaps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(smaps, line);) {
    found = found || line.find(mapping) != std::string::npos;
    if (found && line.starts_with("VmFlags:")) return line + " ";
  }
  return {};
}

TEST_F(MemoryBackingTest, TakesHugePagesWhereSharedMemoryMayHaveThem) {
  const auto probe = MemoryMapping::anonymous(page_size());
  if (::madvise(probe.data(), probe.size(), MADV_HUGEPAGE) != 0) {
    GTEST_SKIP() << "the kernel has no transparent huge pages";
  }
  EXPECT_THAT(flags_of("memfd:rdmablk-test"), HasSubstr(" hg "));
}

TEST_F(MemoryBackingTest, IsNoPartOfACoreDump) {
  EXPECT_THAT(flags_of("memfd:rdmablk-test"), HasSubstr(" dd "));
}

TEST_F(MemoryBackingTest, IsClosedOnExec) {
  EXPECT_NE(::fcntl(memory_.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(MemoryBackingNodeTest, TakesItsMemoryFromTheNode) {
  const MemoryBacking memory("test", kSize, 0, 0);
  int mode = MPOL_DEFAULT;
  if (::get_mempolicy(&mode, nullptr, 0, memory.bytes().data(), MPOL_F_ADDR) != 0) {
    GTEST_SKIP() << "the kernel has no NUMA policies";
  }
  EXPECT_EQ(mode, MPOL_PREFERRED);
}

TEST(MemoryBackingNodeTest, DoesWithoutANodeThatIsNotThere) {
  MemoryBacking memory("test", kSize, 0, 1023);
  EXPECT_EQ(memory.bytes().size(), kSize);
  memory.bytes().back() = std::byte{1};
}

TEST(MemoryBackingHugeTest, SaysHowManyPagesAreMissing) {
  const std::uint64_t page = std::uint64_t{2} << 20;
  const auto pool = read_huge_page_pool(page, read_machine_memory());
  const std::uint64_t pages = pool.free_pages + 7;
  const auto error = error_of<Error>([&] { MemoryBacking("test", pages * page, page); });
  if (error.find("no huge pages of") != std::string::npos) GTEST_SKIP() << error;
  EXPECT_THAT(error, AllOf(HasSubstr("takes " + std::to_string(pages) + " huge pages"),
                           HasSubstr(pool.file)));
}

}  // namespace
}  // namespace rdmablk::target
