#include "initiator/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::initiator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PathsTest : public ::testing::Test {
 protected:
  Paths paths_{{{"192.0.2.1", 10812}, {"192.0.2.2", 10812}, {"192.0.2.3", 7000}}};
};

TEST_F(PathsTest, QueuesAreSpreadOverAll) {
  EXPECT_THAT(paths_.for_queue(0), ElementsAre(0, 1, 2));
  EXPECT_THAT(paths_.for_queue(1), ElementsAre(1, 2, 0));
  EXPECT_THAT(paths_.for_queue(2), ElementsAre(2, 0, 1));
  EXPECT_THAT(paths_.for_queue(4), ElementsAre(1, 2, 0));
}

TEST_F(PathsTest, QueuesOfAPathThatIsDownAreSpreadOverTheOthers) {
  EXPECT_TRUE(paths_.set_down(1, "the cable is cut"));
  EXPECT_FALSE(paths_.set_down(1, "no answer"));
  EXPECT_THAT(paths_.for_queue(0), ElementsAre(0, 2));
  EXPECT_THAT(paths_.for_queue(1), ElementsAre(0, 2));
  EXPECT_THAT(paths_.for_queue(4), ElementsAre(2, 0));
  EXPECT_TRUE(paths_.set_up(1));
  EXPECT_FALSE(paths_.set_up(1));
  EXPECT_THAT(paths_.for_queue(1), ElementsAre(1, 2, 0));
}

TEST_F(PathsTest, TheSessionTriesThoseThatAreDownLast) {
  paths_.set_down(0, "no answer");
  EXPECT_THAT(paths_.for_admin(), ElementsAre(1, 2, 0));
  for (const std::size_t path : {1U, 2U}) paths_.set_down(path, "no answer");
  EXPECT_THAT(paths_.for_admin(), ElementsAre(0, 1, 2));
  EXPECT_THAT(paths_.for_queue(1), IsEmpty());
}

TEST_F(PathsTest, TellWhatTheyAreLike) {
  paths_.set_admin(1);
  paths_.set_device(1, "mlx5_1");
  paths_.set_down(2, "no answer");
  paths_.set_down(2, "still none");
  const auto status = paths_.status();
  ASSERT_EQ(status.size(), 3U);
  EXPECT_EQ(status[2].place.text(), "192.0.2.3:7000");
  EXPECT_FALSE(status[0].is_admin);
  EXPECT_TRUE(status[1].is_admin);
  EXPECT_EQ(status[1].device, "mlx5_1");
  EXPECT_TRUE(status[1].is_up);
  EXPECT_FALSE(status[2].is_up);
  EXPECT_EQ(status[2].last_error, "still none");
  EXPECT_EQ(status[2].failures, 1U);
}

TEST_F(PathsTest, CountWhatQueuesHaveDoneThatAreGone) {
  Request read{.operation = Operation::read, .length = 4096};
  Request write{.operation = Operation::write, .length = 512};
  Request failed{.operation = Operation::write, .length = 512};
  failed.error = EIO;
  auto first = paths_.count_for(0);
  auto second = paths_.count_for(0);
  ASSERT_NE(first, second);
  first->set_connected(true);
  for (Request* const request : {&read, &write, &failed}) {
    first->begin();
    first->end(*request);
  }
  second->begin();
  EXPECT_FALSE(first->is_busy());
  EXPECT_TRUE(second->is_busy());
  EXPECT_EQ(paths_.status()[0].queues, 1U);
  const PathUse* const gone = second.get();
  second.reset();
  second = paths_.count_for(0);
  EXPECT_EQ(second.get(), gone);
  EXPECT_FALSE(second->is_busy());
  first.reset();
  second->begin();
  second->end(read);
  const auto counts = paths_.status()[0].counts;
  EXPECT_EQ(counts.reads, 2U);
  EXPECT_EQ(counts.writes, 1U);
  EXPECT_EQ(counts.bytes_read, 8192U);
  EXPECT_EQ(counts.bytes_written, 512U);
}

}  // namespace
}  // namespace rdmablk::initiator
