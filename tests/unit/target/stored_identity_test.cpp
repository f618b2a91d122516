#include "target/stored_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "error_of.h"
#include "file_size_limit.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// One export, and the target that serves it again and again.
class StoredIdentityTest : public ::testing::Test {
 protected:
  StoredIdentity start() { return {directory_, "disk", "/srv/disk.img", "key", content_}; }

  std::string state_file() const { return directory_.path() + "/key.json"; }
  void damage() const { std::ofstream(state_file()) << "{"; }

  ScratchDirectory scratch_;
  StateDirectory directory_{scratch_.path("state")};
  FoundContent content_{"inode 7", 4096, "boot 1", {}};
};

TEST_F(StoredIdentityTest, SurvivesThatTheTargetIsKilled) {
  StoredIdentity before = start();
  const auto lease = before.next_lease();
  EXPECT_EQ(before.last_lease(), lease);
  StoredIdentity after = start();
  EXPECT_EQ(after.uuid(), before.uuid());
  EXPECT_EQ(after.generation(), before.generation());
  EXPECT_EQ(after.last_lease(), lease);
  EXPECT_GT(after.next_lease(), lease);
}

TEST_F(StoredIdentityTest, SurvivesAPlannedReboot) {
  StoredIdentity before = start();
  before.mark_clean("inode 7");
  content_.boot = "boot 2";
  EXPECT_EQ(start().generation(), before.generation());
  // It runs again: that stop counts no more.
  content_.boot = "boot 3";
  EXPECT_NE(start().generation(), before.generation());
}

TEST_F(StoredIdentityTest, ChangesGenerationWithACrashOfTheHost) {
  StoredIdentity before = start();
  const auto lease = before.next_lease();
  content_.boot = "boot 2";
  StoredIdentity after = start();
  EXPECT_EQ(after.uuid(), before.uuid());
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_GT(after.next_lease(), lease);
}

TEST_F(StoredIdentityTest, ChangesWithTheFile) {
  StoredIdentity before = start();
  before.mark_clean("inode 7");
  content_.file = "inode 8";
  StoredIdentity after = start();
  EXPECT_NE(after.uuid(), before.uuid());
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_GE(after.last_lease(), before.last_lease());
}

TEST_F(StoredIdentityTest, FindsTheFileThatWasWrittenAtTheEnd) {
  StoredIdentity before = start();
  before.mark_clean("inode 8");
  content_.file = "inode 8";
  EXPECT_EQ(start().generation(), before.generation());
}

TEST_F(StoredIdentityTest, StartsAnewWithoutState) {
  StoredIdentity before = start();
  std::filesystem::remove(state_file());
  StoredIdentity after = start();
  EXPECT_NE(after.uuid(), before.uuid());
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_NE(after.last_lease(), before.last_lease());
}

TEST_F(StoredIdentityTest, StartsAnewWithDamagedState) {
  StoredIdentity before = start();
  damage();
  StoredIdentity after = start();
  EXPECT_NE(after.generation(), before.generation());
  EXPECT_EQ(start().generation(), after.generation());
}

TEST_F(StoredIdentityTest, RemembersThatContentWasLost) {
  StoredIdentity before = start();
  const auto generation = before.generation();
  before.mark_lost();
  EXPECT_NE(before.generation(), generation);
  EXPECT_EQ(start().generation(), before.generation());
}

TEST_F(StoredIdentityTest, ForgetsEverythingRatherThanThatContentWasLost) {
  StoredIdentity before = start();
  const auto generation = before.generation();
  {
    const FileSizeLimit full(1);
    before.mark_lost();
  }
  EXPECT_NE(before.generation(), generation);
  EXPECT_NE(start().generation(), generation);
}

TEST_F(StoredIdentityTest, ALossAfterTheCleanMarkUndoesIt) {
  StoredIdentity before = start();
  before.mark_clean("inode 7");
  before.mark_lost();
  const auto generation = before.generation();
  content_.boot = "boot 2";
  EXPECT_NE(start().generation(), generation);
}

TEST_F(StoredIdentityTest, GivesNoLeaseThatCannotBeKept) {
  StoredIdentity identity = start();
  const auto lease = identity.next_lease();
  {
    const FileSizeLimit full(1);
    EXPECT_THAT(error_of<Error>([&] { identity.next_lease(); }),
                AllOf(HasSubstr("'disk'"), HasSubstr(directory_.path()), HasSubstr("--state-dir")));
  }
  EXPECT_EQ(identity.last_lease(), lease);
  EXPECT_EQ(start().last_lease(), lease);
  EXPECT_GT(identity.next_lease(), lease);
}

TEST_F(StoredIdentityTest, GivesNoLeaseOnAFullDisk) {
  const auto mount_point = scratch_.path("full");
  std::filesystem::create_directory(mount_point);
  if (::mount("none", mount_point.c_str(), "tmpfs", 0, "size=8k") != 0) {
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

TEST_F(StoredIdentityTest, IsNotOfferedWhenItCannotBeKept) {
  const FileSizeLimit full(1);
  EXPECT_THROW(start(), Error);
}

}  // namespace
}  // namespace rdmablk::target
