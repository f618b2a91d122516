#include "target/stored_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "common/error.h"
#include "common/log_limiter.h"
#include "common/random.h"
#include "error_of.h"
#include "file_size_limit.h"
#include "log_capture.h"
#include "sample_record.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

/// One export, and the target that serves it again and again.
class StoredIdentityTest : public ::testing::Test {
 protected:
  std::unique_ptr<StoredIdentity> start() {
    auto identity =
        std::make_unique<StoredIdentity>(directory_, "disk", "/srv/disk.img", "key", content_);
    identity->begin();
    return identity;
  }

  std::string state_file() const { return directory_.path() + "/key.json"; }
  void damage() const { std::ofstream(state_file()) << "{"; }

  ScratchDirectory scratch_;
  StateDirectory directory_{scratch_.path("state")};
  FoundContent content_{"inode 7", 4096, "boot 1", {}};
};

TEST_F(StoredIdentityTest, SurvivesThatTheTargetIsKilled) {
  const auto started = start();
  StoredIdentity& before = *started;
  const auto lease = before.next_lease();
  EXPECT_EQ(before.last_lease(), lease);
  const auto restarted = start();
  StoredIdentity& after = *restarted;
  EXPECT_EQ(after.uuid(), before.uuid());
  EXPECT_EQ(after.generation(), before.generation());
  EXPECT_EQ(after.last_lease(), lease);
  EXPECT_GT(after.next_lease(), lease);
}

TEST_F(StoredIdentityTest, IsTheSameWithEitherSizeWhileTheFileGetsAnother) {
  const auto started = start();
  started->begin_resize(8192);
  EXPECT_TRUE(StoredIdentity::was_being_resized(directory_, "key", 4096, 8192));
  EXPECT_TRUE(StoredIdentity::was_being_resized(directory_, "key", 8192, 4096));
  EXPECT_FALSE(StoredIdentity::was_being_resized(directory_, "key", 4096, 512));
  EXPECT_FALSE(StoredIdentity::was_being_resized(directory_, "key", 8192, 8192));
  EXPECT_FALSE(StoredIdentity::was_being_resized(directory_, "other", 4096, 8192));
  const StoredIdentity with_old(directory_, "disk", "/srv/disk.img", "key", content_);
  EXPECT_EQ(with_old.generation(), started->generation());
  content_.size = 8192;
  const StoredIdentity with_new(directory_, "disk", "/srv/disk.img", "key", content_);
  EXPECT_EQ(with_new.generation(), started->generation());
  content_.size = 512;
  const StoredIdentity with_third(directory_, "disk", "/srv/disk.img", "key", content_);
  EXPECT_NE(with_third.generation(), started->generation());
}

TEST_F(StoredIdentityTest, HasTheNewSizeOnceThatIsThere) {
  const auto started = start();
  started->begin_resize(8192);
  started->end_resize(8192);
  EXPECT_FALSE(StoredIdentity::was_being_resized(directory_, "key", 4096, 8192));
  EXPECT_TRUE(StoredIdentity::was_resized_to(directory_, "key", "inode 7", 8192));
  EXPECT_FALSE(StoredIdentity::was_resized_to(directory_, "key", "inode 7", 4096));
  EXPECT_FALSE(StoredIdentity::was_resized_to(directory_, "key", "inode 8", 8192));
  const StoredIdentity with_old(directory_, "disk", "/srv/disk.img", "key", content_);
  EXPECT_NE(with_old.generation(), started->generation());
  content_.size = 8192;
  EXPECT_EQ(start()->generation(), started->generation());
  // Whoever starts next with the configuration of that time knows why it differs.
  EXPECT_TRUE(StoredIdentity::was_resized_to(directory_, "key", "inode 7", 8192));
}

TEST_F(StoredIdentityTest, HasTheOldSizeWhenNothingCameOfTheNewOne) {
  const auto started = start();
  started->begin_resize(8192);
  started->cancel_resize();
  EXPECT_FALSE(StoredIdentity::was_being_resized(directory_, "key", 4096, 8192));
  EXPECT_FALSE(StoredIdentity::was_resized_to(directory_, "key", "inode 7", 8192));
  EXPECT_FALSE(StoredIdentity::was_resized_to(directory_, "key", "inode 7", 4096));
  EXPECT_EQ(start()->generation(), started->generation());
}

TEST_F(StoredIdentityTest, MemoryKeepsItsSizeWhenTheNewOneCannotBeNoted) {
  RecordMemory memory(sample_record());
  const std::uint64_t size = memory.record().size;
  content_.memory = memory.record().memory;
  const auto started = start();
  started->mirror(memory);
  started->begin_resize(2 * size);
  std::filesystem::remove(state_file());
  std::filesystem::create_directories(state_file() + "/in the way");
  EXPECT_THROW(started->end_resize(2 * size), Error);
  EXPECT_EQ(memory.record().size, size);
  EXPECT_FALSE(memory.record().is_resized);
  std::filesystem::remove_all(state_file());
  started->end_resize(2 * size);
  EXPECT_EQ(memory.record().size, 2 * size);
  EXPECT_TRUE(memory.record().is_resized);
}

TEST_F(StoredIdentityTest, SurvivesAPlannedReboot) {
  const auto started = start();
  StoredIdentity& before = *started;
  before.mark_clean("inode 7");
  content_.boot = "boot 2";
  EXPECT_EQ(start()->generation(), before.generation());
  // It runs again: that stop counts no more.
  content_.boot = "boot 3";
  EXPECT_NE(start()->generation(), before.generation());
}

TEST_F(StoredIdentityTest, ChangesGenerationWithACrashOfTheHost) {
  const auto started = start();
  StoredIdentity& before = *started;
  const auto lease = before.next_lease();
  content_.boot = "boot 2";
  const auto restarted = start();
  StoredIdentity& after = *restarted;
  EXPECT_EQ(after.uuid(), before.uuid());
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_GT(after.next_lease(), lease);
}

TEST_F(StoredIdentityTest, ChangesWithTheFile) {
  const auto started = start();
  StoredIdentity& before = *started;
  before.mark_clean("inode 7");
  content_.file = "inode 8";
  const auto restarted = start();
  StoredIdentity& after = *restarted;
  EXPECT_NE(after.uuid(), before.uuid());
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_GE(after.last_lease(), before.last_lease());
}

TEST_F(StoredIdentityTest, FindsTheFileThatWasWrittenAtTheEnd) {
  const auto started = start();
  StoredIdentity& before = *started;
  before.mark_clean("inode 8");
  content_.file = "inode 8";
  EXPECT_EQ(start()->generation(), before.generation());
}

TEST_F(StoredIdentityTest, StartsAnewWithoutState) {
  const auto started = start();
  StoredIdentity& before = *started;
  std::filesystem::remove(state_file());
  const auto restarted = start();
  StoredIdentity& after = *restarted;
  EXPECT_NE(after.uuid(), before.uuid());
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_NE(after.last_lease(), before.last_lease());
}

TEST_F(StoredIdentityTest, StartsAnewWithDamagedState) {
  const auto started = start();
  StoredIdentity& before = *started;
  damage();
  const auto restarted = start();
  StoredIdentity& after = *restarted;
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_EQ(start()->generation(), after.generation());
}

TEST_F(StoredIdentityTest, RemembersThatContentWasLost) {
  const auto started = start();
  StoredIdentity& before = *started;
  const auto generation = before.generation();
  before.mark_lost();
  EXPECT_NE(before.generation(), generation);
  EXPECT_EQ(start()->generation(), before.generation());
}

TEST_F(StoredIdentityTest, ForgetsEverythingRatherThanThatContentWasLost) {
  const auto started = start();
  StoredIdentity& before = *started;
  const auto generation = before.generation();
  {
    const FileSizeLimit full(1);
    before.mark_lost();
  }
  EXPECT_NE(before.generation(), generation);
  EXPECT_NE(start()->generation(), generation);
}

TEST_F(StoredIdentityTest, DoesNotFillTheLog) {
  constexpr int kTimes = 3 * LogLimiter::kLines;
  const auto identity = start();
  const LogCapture log;
  {
    const FileSizeLimit full(1);
    for (int i = 0; i < kTimes; ++i) identity->mark_lost();
  }
  EXPECT_THAT(log.count("File too large"), AllOf(Gt(0U), Lt(kTimes)));
}

TEST_F(StoredIdentityTest, ALossAfterTheCleanMarkUndoesIt) {
  const auto started = start();
  StoredIdentity& before = *started;
  before.mark_clean("inode 7");
  before.mark_lost();
  const auto generation = before.generation();
  content_.boot = "boot 2";
  EXPECT_NE(start()->generation(), generation);
}

TEST_F(StoredIdentityTest, GivesNoLeaseThatCannotBeKept) {
  const auto started = start();
  StoredIdentity& identity = *started;
  const auto lease = identity.next_lease();
  {
    const FileSizeLimit full(1);
    EXPECT_THAT(error_of<Error>([&] { identity.next_lease(); }),
                AllOf(HasSubstr("'disk'"), HasSubstr(directory_.path()), HasSubstr("--state-dir")));
  }
  EXPECT_EQ(identity.last_lease(), lease);
  EXPECT_EQ(start()->last_lease(), lease);
  EXPECT_GT(identity.next_lease(), lease);
}

TEST_F(StoredIdentityTest, GivesNoLeaseOnAFullDisk) {
  const auto mount_point = scratch_.path("full");
  std::filesystem::create_directory(mount_point);
  if (::mount("none", mount_point.c_str(), "tmpfs", 0, "mode=755,size=8k") != 0) {
    GTEST_SKIP() << "cannot mount a small file system";
  }
  {
    const StateDirectory small(mount_point);
    StoredIdentity identity(small, "disk", "/srv/disk.img", "key", content_);
    const auto lease = identity.last_lease();
    std::ofstream(mount_point + "/filler") << std::string(8192, 'x');
    EXPECT_THAT(error_of<Error>([&] { identity.next_lease(); }), HasSubstr("No space left"));
    EXPECT_EQ(identity.last_lease(), lease);
    EXPECT_EQ(StateDirectory(mount_point).read("key.json.new"), std::nullopt);
  }
  ::umount2(mount_point.c_str(), MNT_DETACH);
}

TEST_F(StoredIdentityTest, AStartThatFailsChangesNothing) {
  content_.memory = random_bytes<MemoryId>();
  const auto started = start();
  started->mark_clean("inode 7");
  content_.boot = "boot 2";
  content_.memory = random_bytes<MemoryId>();
  {
    const StoredIdentity fails(directory_, "disk", "/srv/disk.img", "key", content_);
    EXPECT_EQ(fails.generation(), started->generation());
  }
  content_.memory = random_bytes<MemoryId>();
  EXPECT_EQ(start()->generation(), started->generation());
}

/// A resident export, whose memory may outlive its process.
class MirroredIdentityTest : public StoredIdentityTest {
 protected:
  MirroredIdentityTest() { content_.memory = memory_.record().memory; }

  /// As if the memory had come from the process before.
  std::unique_ptr<StoredIdentity> restart() {
    before_ = memory_.record();
    content_.inherited = &before_;
    auto identity = start();
    identity->mirror(memory_);
    return identity;
  }

  RecordMemory memory_{sample_record()};
  MemoryRecord before_;
};

TEST_F(MirroredIdentityTest, IsInTheRecordToo) {
  const auto identity = start();
  identity->mirror(memory_);
  EXPECT_EQ(memory_.record().uuid, identity->uuid());
  EXPECT_EQ(memory_.record().generation, identity->generation());
  EXPECT_EQ(identity->next_lease(), memory_.record().lease);
  EXPECT_FALSE(memory_.record().is_suspect);
  identity->mark_lost();
  EXPECT_EQ(memory_.record().generation, identity->generation());
  EXPECT_TRUE(memory_.record().is_suspect);
  identity->next_lease();
  EXPECT_TRUE(memory_.record().is_suspect);
}

TEST_F(MirroredIdentityTest, SurvivesWithItsMemory) {
  const auto identity = start();
  identity->mirror(memory_);
  identity->next_lease();
  const auto after = restart();
  EXPECT_EQ(after->generation(), identity->generation());
  EXPECT_EQ(after->last_lease(), identity->last_lease());
}

TEST_F(MirroredIdentityTest, SurvivesTheLossOfItsState) {
  const auto identity = start();
  identity->mirror(memory_);
  std::filesystem::remove(state_file());
  EXPECT_EQ(restart()->generation(), identity->generation());
}

TEST_F(MirroredIdentityTest, ChangesWhenHalfOfAChangeWasNoted) {
  const auto identity = start();
  identity->mirror(memory_);
  MemoryRecord record = memory_.record();
  record.generation.back() ^= std::byte{1};
  memory_.update(record);
  const auto after = restart();
  EXPECT_NE(after->generation(), identity->generation());
  EXPECT_NE(after->generation(), record.generation);
}

TEST_F(MirroredIdentityTest, RefusesMemoryOfAnotherTime) {
  start()->mirror(memory_);
  MemoryRecord record = memory_.record();
  record.is_dirty = true;
  memory_.update(record);
  content_.memory = random_bytes<MemoryId>();
  start();  // without the memory
  content_.memory = record.memory;
  EXPECT_THAT(error_of<Error>([&] { restart(); }),
              AllOf(HasSubstr("served without it since"), HasSubstr("--discard disk")));
  // When it equals the file there is nothing to lose.
  record.is_dirty = false;
  memory_.update(record);
  EXPECT_NO_THROW(restart());
}

TEST_F(StoredIdentityTest, IsNotOfferedWhenItCannotBeKept) {
  const FileSizeLimit full(1);
  EXPECT_THROW(start(), Error);
}

}  // namespace
}  // namespace rdmablk::target
