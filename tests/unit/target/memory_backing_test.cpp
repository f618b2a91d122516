#include "target/memory_backing.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numaif.h>
#include <sys/file.h>
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

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;

/// Some huge pages more in the machine's pool, where root may have them; one such object at a time,
/// whatever process has it.
class HugePages {
 public:
  explicit HugePages(std::uint64_t pages) : file_(::open(kFile, O_RDWR | O_CLOEXEC)) {
    if (!file_ || ::flock(file_.get(), LOCK_EX) != 0) return;
    before_ = number();
    set(before_ + pages);
    is_there_ = number() == before_ + pages;
    if (!is_there_) set(before_);
  }
  ~HugePages() {
    if (is_there_) set(before_);
  }
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

  explicit operator bool() const noexcept { return is_there_; }

 private:
  static constexpr const char* kFile = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";

  static std::uint64_t number() {
    std::uint64_t pages = 0;
    std::ifstream(kFile) >> pages;
    return pages;
  }
  static void set(std::uint64_t pages) { std::ofstream(kFile) << pages << '\n'; }

  UniqueFd file_;
  std::uint64_t before_ = 0;
  bool is_there_ = false;
};

std::uint64_t free_huge_pages() {
  return read_huge_page_pool(kHugePage, read_machine_memory()).free_pages;
}

TEST(MemoryBackingHugeTest, GrowsAndGivesPagesBack) {
  const HugePages pages(4);
  if (!pages) GTEST_SKIP() << "needs root, and memory in pieces of a huge page";
  const auto before = free_huge_pages();
  MemoryBacking memory("test", kHugePage + 512, kHugePage);
  std::ranges::fill(memory.bytes(), std::byte{1});
  memory.bytes().data()[kHugePage + 512] = std::byte{2};  // belongs to nobody
  EXPECT_EQ(free_huge_pages(), before - 2);
  memory.grow(3 * kHugePage + 512);
  EXPECT_EQ(free_huge_pages(), before - 4);
  EXPECT_EQ(memory.bytes()[kHugePage + 511], std::byte{1});
  EXPECT_TRUE(is_zero(memory.bytes().subspan(kHugePage + 512)));
  std::ranges::fill(memory.bytes(), std::byte{3});

  const auto error = error_of<Error>([&] { memory.grow(8 * kHugePage * before); });
  EXPECT_THAT(error, HasSubstr("huge pages of 2 MiB"));
  ASSERT_EQ(memory.bytes().size(), 3 * kHugePage + 512) << "it is what it was";
  EXPECT_TRUE(std::ranges::all_of(memory.bytes(), [](std::byte b) { return b == std::byte{3}; }));

  memory.shrink(kHugePage / 2);
  EXPECT_EQ(free_huge_pages(), before - 1);
  memory.grow(2 * kHugePage);
  EXPECT_EQ(memory.bytes()[kHugePage / 2 - 1], std::byte{3});
  EXPECT_TRUE(is_zero(memory.bytes().subspan(kHugePage / 2)));
}

TEST(MemoryBackingHugeTest, IsTakenOverAndGrowsOn) {
  const HugePages pages(4);
  if (!pages) GTEST_SKIP() << "needs root, and memory in pieces of a huge page";
  MemoryBacking first("test", 2 * kHugePage, kHugePage);
  std::ranges::fill(first.bytes(), std::byte{1});
  MemoryBacking next("test", UniqueFd(::dup(first.fd())), 2 * kHugePage, kHugePage,
                     kHugePage + 512);
  EXPECT_EQ(next.bytes()[kHugePage + 511], std::byte{1});
  EXPECT_TRUE(is_zero(next.bytes().subspan(kHugePage + 512)));
  next.grow(3 * kHugePage);
  EXPECT_EQ(next.bytes()[0], std::byte{1});
  EXPECT_TRUE(is_zero(next.bytes().subspan(kHugePage + 512)));
}

TEST(MemoryBackingHugeTest, SaysHowManyPagesAreMissing) {
  const std::uint64_t page = kHugePage;
  const auto machine = read_machine_memory();
  const auto pool = read_huge_page_pool(page, machine);
  const std::uint64_t pages = machine.total / page + 7;  // whatever the pool has meanwhile
  const auto error = error_of<Error>([&] { MemoryBacking("test", pages * page, page); });
  if (error.find("no huge pages of") != std::string::npos) GTEST_SKIP() << error;
  EXPECT_THAT(error, AllOf(HasSubstr("takes " + std::to_string(pages) + " huge pages"),
                           HasSubstr(pool.file)));
}

}  // namespace
}  // namespace rdmablk::target
