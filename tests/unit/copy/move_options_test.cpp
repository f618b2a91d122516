#include "initiator/copy/move_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "initiator/copy/range_options.h"

namespace rdmablk::copy {
namespace {

MoveOptions parse(const std::string& line) {
  MoveOptions options;
  CLI::App app;
  options.add_to(app);
  app.parse(line);
  return options;
}

TEST(MoveOptions, HaveValuesOfTheirOwn) {
  const TransferOptions options = parse("").transfer();
  EXPECT_EQ(options.queues, 2U);
  EXPECT_EQ(options.depth, 8U);
  EXPECT_EQ(options.block_size, 1U << 20U);
  EXPECT_FALSE(options.verify);
  EXPECT_TRUE(options.shows_progress);
}

TEST(MoveOptions, AskForAsManyQueuesAsThereWillBe) {
  const MoveOptions options = parse("--queues 3 --depth 4 --block-size 256k --take-over");
  const auto write = options.remote(protocol::Access::read_write, {}, {});
  EXPECT_EQ(write.attach.queues, 3U);
  EXPECT_EQ(write.attach.depth, 8U);  // of 128 KiB
  EXPECT_TRUE(write.attach.take_over);
  const auto read = options.remote(protocol::Access::read_only, {}, {});
  EXPECT_EQ(read.attach.queues, 4U);  // one for the map
  EXPECT_FALSE(read.attach.take_over);
}

TEST(MoveOptions, RefuseWhatMakesNoSense) {
  for (const char* line :
       {"--queues 0", "--queues 65", "--depth 0", "--depth 257", "--block-size 511",
        "--block-size 65M", "--block-size x", "--depth 256 --queues 64"}) {
    EXPECT_THROW(parse(line).transfer(), UsageError) << line;
  }
  EXPECT_THROW(parse("--give-up x").remote(protocol::Access::read_only, {}, {}), UsageError);
}

class RangeOptionsTest : public testing::Test {
 protected:
  ExportRange within(const std::string& line, std::uint64_t size) {
    RangeOptions options;
    CLI::App app;
    options.add_to(app);
    app.parse(line);
    options.check();
    return options.within("disk", size);
  }
};

TEST_F(RangeOptionsTest, NameAPartOfTheExport) {
  EXPECT_EQ(within("", 1024).length, 1024U);
  EXPECT_EQ(within("--offset 1000", 1024).length, 24U);
  EXPECT_EQ(within("--offset 1 --length 1K", 1025).length, 1024U);
  EXPECT_EQ(within("--offset 1 --length 1K", 1025).offset, 1U);
}

TEST_F(RangeOptionsTest, RefuseWhatLiesOutside) {
  for (const char* line : {"--offset 1024", "--length 1025", "--length 0", "--offset 1 --length 1K",
                           "--offset x", "--length x", "--offset 1 --length 16777216T"}) {
    EXPECT_THROW(within(line, 1024), UsageError) << line;
  }
}

}  // namespace
}  // namespace rdmablk::copy
