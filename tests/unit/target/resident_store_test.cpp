#include "target/resident_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/log_limiter.h"
#include "error_of.h"
#include "file_size_limit.h"
#include "log_capture.h"
#include "scratch_directory.h"
#include "target/memory_backing.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kSize = 24 * kMiB + 4096;
constexpr std::uint64_t kBlock = 4096;

/// A hold that nobody waits for.
struct TestHold final : RangeLock::Hold {
  void on_granted() noexcept override { std::abort(); }
};

/// A sparse file with a few bytes at 3 MiB - 4 and at 20 MiB, in memory. The parameter is how it is
/// opened.
class ResidentStoreTest : public ::testing::TestWithParam<const char*> {
 protected:
  ResidentStoreTest() {
    put(3 * kMiB - 4, "abcdefgh");
    put(20 * kMiB, "xyz");
  }

  void put(std::uint64_t offset, std::string_view text) {
    const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(::pwrite(fd.get(), text.data(), text.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(text.size()));
    ASSERT_EQ(::fsync(fd.get()), 0);
  }
  std::string on_disk(std::uint64_t offset, std::size_t size) const {
    const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::string text(size, '\0');
    EXPECT_EQ(::pread(fd.get(), text.data(), size, static_cast<off_t>(offset)),
              static_cast<ssize_t>(size));
    return text;
  }
  void open(const std::string& options = "") {
    store_ = std::make_unique<FileStore>(
        parse_export_spec("disk=file:" + path_ + ",resident," + GetParam() + options), 2);
    memory_ = std::make_unique<MemoryBacking>("disk", kSize, 0);
    resident_ = std::make_unique<ResidentStore>("disk", *store_, memory_->bytes());
  }
  /// Writes to the memory as a device does, whatever a thread does to it meanwhile.
  void set(std::uint64_t offset, std::string_view text) {
    std::string copy(text);
    const iovec from{copy.data(), copy.size()};
    const iovec to{memory_->bytes().data() + offset, copy.size()};
    ASSERT_EQ(::process_vm_writev(::getpid(), &from, 1, &to, 1, 0),
              static_cast<ssize_t>(copy.size()));
  }
  std::string in_memory(std::uint64_t offset, std::size_t size) const {
    return {reinterpret_cast<const char*>(memory_->bytes().data()) + offset, size};
  }
  bool is_unlocked() {
    TestHold hold;
    hold.begin = 0;
    hold.end = kSize;
    const bool free = store_->ranges().acquire(hold);
    if (free) store_->ranges().release(hold);
    return free;
  }
  bool reconcile() {
    resident_->reconcile();
    return resident_->settle();
  }
  std::vector<std::uint64_t> stored_offsets() const {
    std::array<protocol::Extent, 64> extents;
    std::size_t count = 0;
    EXPECT_EQ(store_->file().map(0, kSize, extents, count), 0);
    std::vector<std::uint64_t> offsets;
    std::uint64_t position = 0;
    for (const auto& extent : std::span(extents).first(count)) {
      if (!extent.is_hole) offsets.push_back(position);
      position += extent.length;
    }
    return offsets;
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.make("disk.img", kSize);
  std::unique_ptr<FileStore> store_;
  std::unique_ptr<MemoryBacking> memory_;
  std::unique_ptr<ResidentStore> resident_;
};

INSTANTIATE_TEST_SUITE_P(Ways, ResidentStoreTest, ::testing::Values("direct=auto", "direct=off"),
                         [](const auto& parameter) {
                           return parameter.index == 0 ? "Direct" : "Buffered";
                         });

TEST_P(ResidentStoreTest, LoadsTheFile) {
  put(kSize - 4, "last");
  open();
  EXPECT_EQ(in_memory(3 * kMiB - 8, 16), std::string("\0\0\0\0abcdefgh\0\0\0\0", 16));
  EXPECT_EQ(in_memory(20 * kMiB, 3), "xyz");
  EXPECT_EQ(in_memory(kSize - 4, 4), "last");
  EXPECT_EQ(std::count(memory_->bytes().begin(), memory_->bytes().end(), std::byte{}),
            static_cast<std::ptrdiff_t>(kSize - 15));
}

TEST_P(ResidentStoreTest, LoadsAFileWithoutHoles) {
  std::string content(kSize, '\0');
  unsigned seed = 1;
  for (char& byte : content) byte = static_cast<char>((seed = seed * 1103515245U + 12345U) >> 16U);
  put(0, content);
  open();
  EXPECT_TRUE(std::memcmp(memory_->bytes().data(), content.data(), kSize) == 0);
}

TEST_P(ResidentStoreTest, SaysWhatCannotBeLoaded) {
  put(0, std::string(kSize, 'x'));
  store_ = std::make_unique<FileStore>(
      parse_export_spec("disk=file:" + path_ + ",resident," + GetParam()), 0);
  memory_ = std::make_unique<MemoryBacking>("disk", kSize, 0);
  ASSERT_EQ(::truncate(path_.c_str(), 2 * kMiB), 0);
  EXPECT_THAT(error_of<Error>([&] { ResidentStore("disk", *store_, memory_->bytes()); }),
              AllOf(HasSubstr("export 'disk'"), HasSubstr(path_)));
}

TEST_P(ResidentStoreTest, WritesTheBlocksThatDifferAndNothingElse) {
  open();
  set(5 * kMiB + 100, "one");
  set(5 * kMiB + 2 * kBlock, "two");
  set(11 * kMiB - 2, "across");
  set(kSize - 1, "!");
  const auto before = stored_offsets();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(on_disk(5 * kMiB + 100, 3), "one");
  EXPECT_EQ(on_disk(5 * kMiB + 2 * kBlock, 3), "two");
  EXPECT_EQ(on_disk(11 * kMiB - 2, 6), "across");
  EXPECT_EQ(on_disk(kSize - 1, 1), "!");
  EXPECT_EQ(on_disk(3 * kMiB - 4, 8), "abcdefgh");
  EXPECT_EQ(resident_->written(), 5 * store_->file().block_size());
  auto expected = before;
  for (const std::uint64_t offset :
       {5 * kMiB, 5 * kMiB + 2 * kBlock, 11 * kMiB - kBlock, kSize - kBlock}) {
    expected.push_back(offset);
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(stored_offsets(), expected);
}

TEST_P(ResidentStoreTest, WritesNothingWhenNothingDiffers) {
  open();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(resident_->written(), 0U);
}

TEST_P(ResidentStoreTest, WritesZeroesOverWhatWasErased) {
  open();
  set(20 * kMiB, std::string(3, '\0'));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(on_disk(20 * kMiB, 3), std::string(3, '\0'));
}

TEST_P(ResidentStoreTest, HasNothingToSettleWhenNobodyWrote) {
  open();
  ASSERT_TRUE(reconcile());
  set(0, "unasked");
  EXPECT_TRUE(resident_->settle());
  EXPECT_EQ(on_disk(0, 7), std::string(7, '\0'));
}

TEST_P(ResidentStoreTest, RunsAgainForWhoCallsDuringARun) {
  open();
  for (int i = 0; i < 50; ++i) {
    set(static_cast<std::uint64_t>(i % 24) * kMiB, std::to_string(1000 + i));
    resident_->reconcile();
    std::this_thread::yield();
  }
  ASSERT_TRUE(resident_->settle());
  EXPECT_EQ(on_disk(kMiB, 4), "1049");
  EXPECT_EQ(on_disk(0, 4), "1048");
}

TEST_P(ResidentStoreTest, WaitsForWhoHasLockedARange) {
  open();
  TestHold hold;
  hold.begin = 512;
  hold.end = 1024;
  ASSERT_TRUE(store_->ranges().acquire(hold));
  set(512, "old");
  set(20 * kMiB, "XYZ");
  resident_->reconcile();
  // Asked for later than the first piece.
  while (on_disk(20 * kMiB, 3) != "XYZ") std::this_thread::yield();
  EXPECT_EQ(on_disk(512, 3), std::string(3, '\0'));
  set(512, "new");
  store_->ranges().release(hold);
  ASSERT_TRUE(resident_->settle());
  EXPECT_EQ(on_disk(512, 3), "new");
}

TEST_P(ResidentStoreTest, GivesItsLocksBack) {
  open();
  set(kMiB, "x");
  ASSERT_TRUE(reconcile());
  EXPECT_TRUE(is_unlocked());
}

TEST_P(ResidentStoreTest, TriesAgainWhatFailed) {
  open();
  set(16 * kMiB, "late");
  {
    const FileSizeLimit limit(8 * kMiB);
    EXPECT_FALSE(reconcile());
    EXPECT_FALSE(resident_->settle());
  }
  EXPECT_EQ(on_disk(16 * kMiB, 4), std::string(4, '\0'));
  EXPECT_TRUE(resident_->settle());
  EXPECT_EQ(on_disk(16 * kMiB, 4), "late");
  EXPECT_TRUE(is_unlocked());
}

TEST_P(ResidentStoreTest, DoesNotFillTheLog) {
  constexpr std::size_t kMost = 30 * LogLimiter::kLines;  // a slow machine has more time to log
  open();
  const LogCapture log;
  const auto lines = [&log] { return log.count("could not be written back"); };
  std::size_t failures = 0;
  {
    const FileSizeLimit limit(8 * kMiB);
    for (; failures < kMost && lines() >= failures; ++failures) {
      set(16 * kMiB, "late");
      resident_->enter();
      resident_->leave();
      EXPECT_FALSE(resident_->settle());
    }
  }
  EXPECT_THAT(lines(), AllOf(Gt(0U), Lt(failures)));
}

TEST_P(ResidentStoreTest, WritesEverythingOnceAfterAFailedFlush) {
  open();
  store_->flushes().fail();
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(resident_->written(), kSize);
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(resident_->written(), kSize);
  EXPECT_EQ(on_disk(3 * kMiB - 4, 8), "abcdefgh");
}

TEST_P(ResidentStoreTest, EndsInTheMiddleOfARun) {
  open();
  std::memset(memory_->bytes().data(), 'x', kSize);
  resident_->reconcile();
  resident_.reset();
  EXPECT_TRUE(is_unlocked());
}

TEST_P(ResidentStoreTest, LeavesAReadOnlyFileAlone) {
  open(",readonly");
  set(0, "never");
  EXPECT_TRUE(reconcile());
  EXPECT_EQ(on_disk(0, 5), std::string(5, '\0'));
}

}  // namespace
}  // namespace rdmablk::target
