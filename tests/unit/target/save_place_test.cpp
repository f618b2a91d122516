#include "target/save_place.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>

#include "error_of.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SavePlaceTest : public ::testing::Test {
 protected:
  std::string complaint(std::chrono::milliseconds wait = {}) {
    return error_of<Error>([&] { const SavePlace place(spec_, wait); });
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.path("saved.img");
  std::string temporary_ = path_ + ".rdmablk-new";
  ExportSpec spec_ = parse_export_spec("disk=memory:1M,save=" + path_);
};

TEST_F(SavePlaceTest, GoesAwayWithTheObject) {
  { const SavePlace place(spec_); }
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(SavePlaceTest, IsOfOneTargetAtATime) {
  const SavePlace first(spec_);
  EXPECT_THAT(complaint(), AllOf(HasSubstr("'disk'"), HasSubstr(path_),
                                 HasSubstr("another target or export saves to it")));
  EXPECT_TRUE(std::filesystem::exists(temporary_)) << "it is the first one's still";
}

TEST_F(SavePlaceTest, IsNotWhatAnotherExports) {
  std::ofstream(path_) << "exported";
  const UniqueFd exported(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(lock_file(exported.get(), false, Patience({})), LockOutcome::locked);
  EXPECT_THAT(complaint(), HasSubstr("or is of it (lslocks shows who has " + path_ + ")"));
  EXPECT_FALSE(std::filesystem::exists(temporary_));
}

TEST_F(SavePlaceTest, CannotBeExportedByOthers) {
  std::ofstream(path_) << "saved";
  const SavePlace place(spec_);
  const UniqueFd other(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(lock_file(other.get(), true, Patience({})), LockOutcome::held);
}

TEST_F(SavePlaceTest, LeavesWhatIsExportedMeanwhileAlone) {
  SavePlace place(spec_);
  std::ofstream(path_) << "exported";
  const UniqueFd exported(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(lock_file(exported.get(), false, Patience({})), LockOutcome::locked);
  EXPECT_THAT(error_of<Error>([&] { place.take_place(); }), HasSubstr("lslocks"));
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(SavePlaceTest, IsFreeWhenItHasBecomeTheFile) {
  SavePlace first(spec_);
  first.take_place();
  const SavePlace second(spec_, {});
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(SavePlaceTest, IsWaitedForWithoutHarmToWhatItHasBecome) {
  for (int round = 0; round < 50; ++round) {
    SavePlace first(spec_);
    ASSERT_EQ(::write(first.fd(), "content", 7), 7);
    auto second =
        std::async(std::launch::async, [&] { return std::make_unique<SavePlace>(spec_); });
    first.take_place();
    const auto place = second.get();
    EXPECT_EQ(std::filesystem::file_size(path_), 7U);
    EXPECT_EQ(std::filesystem::file_size(temporary_), 0U);
  }
}

TEST_F(SavePlaceTest, OverwritesWhatOneThatWasKilledLeft) {
  std::ofstream(temporary_) << "half of a save";
  {
    const SavePlace place(spec_, {});
    EXPECT_EQ(std::filesystem::file_size(temporary_), 0U);
  }
  EXPECT_TRUE(scratch_.is_empty());
}

TEST_F(SavePlaceTest, SaysWhenItCannotBeMade) {
  std::filesystem::create_symlink("elsewhere", temporary_);
  EXPECT_THAT(complaint(), HasSubstr("cannot open " + temporary_));
  std::filesystem::remove(temporary_);
  ASSERT_EQ(::mkfifo(temporary_.c_str(), 0600), 0);
  EXPECT_THAT(complaint(), HasSubstr("no regular file"));
  std::filesystem::remove(temporary_);
  spec_.save = scratch_.path("missing/saved.img");
  EXPECT_THAT(complaint(), HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace rdmablk::target
