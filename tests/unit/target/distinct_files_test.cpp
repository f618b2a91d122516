#include "target/distinct_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "error_of.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DistinctFilesTest : public ::testing::Test {
 protected:
  std::string check(const std::vector<std::string>& texts) {
    const auto specs = parse_export_specs(texts);
    return error_of([&] { check_distinct_files(specs); });
  }

  ScratchDirectory scratch_;
  std::string path_ = scratch_.make("disk.img", 4096);
};

TEST_F(DistinctFilesTest, TakesDifferentFilesAndMemory) {
  EXPECT_THAT(check({"a=file:" + path_, "b=file:" + scratch_.make("other", 4096), "c=memory:1M",
                     "d=memory:1M", "e=file:" + scratch_.path("new1") + ",size=1M",
                     "f=file:" + scratch_.path("new2") + ",size=1M"}),
              IsEmpty());
}

TEST_F(DistinctFilesTest, FindsAFileUnderAnyName) {
  const auto symbolic = scratch_.path("symbolic");
  const auto hard = scratch_.path("hard");
  std::filesystem::create_symlink(path_, symbolic);
  std::filesystem::create_hard_link(path_, hard);
  for (const auto& other : {path_, symbolic, hard, scratch_.path() + "/./disk.img"}) {
    EXPECT_THAT(check({"a=file:" + path_, "b=file:" + other + ",readonly"}),
                AllOf(HasSubstr("exports 'a' and 'b' are of one file"), HasSubstr(other)));
  }
}

TEST_F(DistinctFilesTest, FindsAFileThatIsYetToBeMade) {
  std::filesystem::create_directory_symlink(scratch_.path(), scratch_.path("here"));
  EXPECT_THAT(check({"a=file:" + scratch_.path("new") + ",size=1M",
                     "b=file:" + scratch_.path("here/new") + ",size=1M"}),
              HasSubstr("one file"));
}

TEST_F(DistinctFilesTest, LetsReadersShare) {
  const auto reader = "=file:" + path_ + ",readonly";
  EXPECT_THAT(check({"a" + reader, "b" + reader}), IsEmpty());
  EXPECT_THAT(check({"a" + reader, "b" + reader, "c=file:" + path_}), HasSubstr("'a' and 'c'"));
}

TEST_F(DistinctFilesTest, FindsADeviceUnderTwoNodes) {
  const dev_t device = makedev(7, 200);  // need not be there
  for (const char* name : {"node1", "node2"}) {
    if (::mknod(scratch_.path(name).c_str(), S_IFBLK | 0600, device) != 0) {
      GTEST_SKIP() << "needs root";
    }
  }
  EXPECT_THAT(check({"a=file:" + scratch_.path("node1"), "b=file:" + scratch_.path("node2")}),
              HasSubstr("one file"));
}

}  // namespace
}  // namespace rdmablk::target
