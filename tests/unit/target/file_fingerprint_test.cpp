#include "target/file_fingerprint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "scratch_directory.h"
#include "target/fixed_identity.h"

namespace rdmablk::target {
namespace {

class FileFingerprintTest : public ::testing::Test {
 protected:
  FileFingerprintTest() { scratch_.make("a", 4096); }

  FileFingerprint of(const char* name) const { return fingerprint_of(scratch_.path(name)); }

  ScratchDirectory scratch_;
};

TEST_F(FileFingerprintTest, IsTheSameWhateverWayLeadsThere) {
  std::filesystem::create_symlink("a", scratch_.path("link"));
  std::filesystem::create_directory(scratch_.path("d"));
  for (const char* way : {"link", "d/../a", "./a"}) {
    EXPECT_EQ(of(way).key, of("a").key) << way;
    EXPECT_EQ(of(way).incarnation, of("a").incarnation) << way;
  }
}

TEST_F(FileFingerprintTest, TellsAFileThatTookItsPlace) {
  const auto before = of("a");
  scratch_.make("b", 4096);
  std::filesystem::rename(scratch_.path("b"), scratch_.path("a"));
  EXPECT_EQ(of("a").key, before.key);
  EXPECT_NE(of("a").incarnation, before.incarnation);
}

TEST_F(FileFingerprintTest, TellsAFileThatIsMadeAnew) {
  // The file system may give the number of the inode again.
  const auto before = of("a");
  std::filesystem::remove(scratch_.path("a"));
  EXPECT_EQ(of("a").incarnation, "");
  scratch_.make("a", 4096);
  EXPECT_NE(of("a").incarnation, before.incarnation);
}

TEST_F(FileFingerprintTest, NamesFilesApart) {
  scratch_.make("b", 4096);
  EXPECT_NE(of("a").file_name(), of("b").file_name());
  EXPECT_EQ(of("a").file_name().size(), 32U);
  EXPECT_EQ(of("a").file_name().find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST_F(FileFingerprintTest, MakesTheIdentityOfAFileThatIsOnlyRead) {
  const FixedIdentity first(of("a"), 4096);
  EXPECT_EQ(first.uuid(), FixedIdentity(of("a"), 4096).uuid());
  EXPECT_EQ(first.generation(), FixedIdentity(of("a"), 4096).generation());
  EXPECT_NE(first.uuid(), FixedIdentity(of("a"), 8192).uuid());
  auto changed = of("a");
  changed.changed = "later";
  EXPECT_EQ(first.uuid(), FixedIdentity(changed, 4096).uuid());
  EXPECT_NE(first.generation(), FixedIdentity(changed, 4096).generation());
}

}  // namespace
}  // namespace rdmablk::target
