#include "common/numa.h"

#include <gtest/gtest.h>
#include <numaif.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "common/memory_mapping.h"
#include "tests/unit/numa_tree.h"

namespace rdmablk {
namespace {

/// One processor too many for any machine that has not as many as can be.
constexpr int kNoCpu = CPU_SETSIZE - 1;

class NumaTest : public ::testing::Test {
 protected:
  /// The processors of a node, by number.
  std::vector<int> cpus_of(int node) const {
    const auto cpus = node_cpus(node, tree_.path());
    return cpus ? numbers_of(*cpus) : std::vector<int>{};
  }

  /// Two nodes: the first processor of this thread is one's, all the others are the other's. The
  /// device is on the node that is given.
  void split_cpus(int device_node) const {
    const auto cpus = own_cpus();
    if (cpus.size() < 2) GTEST_SKIP() << "it takes two processors";
    tree_.make_node(0, std::to_string(cpus.front()));
    std::string others;
    for (std::size_t i = 1; i < cpus.size(); ++i) {
      others += (i > 1 ? "," : "") + std::to_string(cpus[i]);
    }
    tree_.make_node(1, others);
    tree_.put_device_on(std::to_string(device_node));
  }

  NumaTree tree_;
};

TEST_F(NumaTest, KnowsTheNodeOfADevice) {
  tree_.put_device_on("1");
  EXPECT_EQ(device_numa_node("mlx5_0", tree_.path()), 1);
}

TEST_F(NumaTest, KnowsNoNodeWhereTheKernelKnowsNone) {
  tree_.put_device_on("-1");
  EXPECT_EQ(device_numa_node("mlx5_0", tree_.path()), std::nullopt);
  EXPECT_EQ(device_numa_node("soft0", tree_.path()), std::nullopt);
  tree_.put_device_on("many");
  EXPECT_EQ(device_numa_node("mlx5_0", tree_.path()), std::nullopt);
}

TEST_F(NumaTest, ReadsTheProcessorsOfANode) {
  tree_.make_node(0, "0-2,5,8-9");
  EXPECT_EQ(cpus_of(0), (std::vector{0, 1, 2, 5, 8, 9}));
}

TEST_F(NumaTest, HasNoProcessorsWhereThereAreNone) {
  tree_.make_node(0, "");
  tree_.make_node(1, "3-1");
  tree_.make_node(2, "0,x");
  tree_.make_node(3, "0-99999");
  for (const int node : {0, 1, 2, 3, 4}) {
    EXPECT_EQ(node_cpus(node, tree_.path()), std::nullopt) << node;
  }
}

TEST_F(NumaTest, FindsTheProcessorsThatMayBeUsed) {
  const auto own = own_cpus();
  EXPECT_EQ(numbers_of(usable_cpus().value()), own);
  tree_.make_node(0, std::to_string(own.back()) + "," + std::to_string(kNoCpu));
  tree_.make_node(1, std::to_string(kNoCpu));
  if (own.back() == kNoCpu) GTEST_SKIP() << "there are as many processors as can be";
  EXPECT_EQ(numbers_of(usable_cpus(0, tree_.path()).value()), std::vector{own.back()});
  EXPECT_EQ(numbers_of(usable_cpus(1, tree_.path()).value()), own) << "none there: any";
  EXPECT_EQ(numbers_of(usable_cpus(2, tree_.path()).value()), own) << "no such node: any";
}

TEST_F(NumaTest, PinsAThreadToTheProcessorsOfTheDevice) {
  split_cpus(0);
  if (IsSkipped()) return;
  std::thread([&] {
    const int cpu = own_cpus().front();
    EXPECT_EQ(pin_this_thread_near("mlx5_0", 1, tree_.path()), 0);
    EXPECT_EQ(own_cpus(), std::vector{cpu});
    std::thread([&] { EXPECT_EQ(own_cpus(), std::vector{cpu}) << "of a thread it makes"; }).join();
  }).join();
}

TEST_F(NumaTest, LeavesThreadsThatWouldGetInEachOthersWay) {
  split_cpus(0);
  if (IsSkipped()) return;
  const auto before = own_cpus();
  EXPECT_EQ(pin_this_thread_near("mlx5_0", 2, tree_.path()), std::nullopt);
  EXPECT_EQ(own_cpus(), before);
}

TEST_F(NumaTest, LeavesAThreadWhereThereIsOneNode) {
  const auto before = own_cpus();
  tree_.put_device_on("0");
  tree_.make_node(0, std::to_string(before.front()) + "-" + std::to_string(before.back()));
  EXPECT_EQ(pin_this_thread_near("mlx5_0", 1, tree_.path()), std::nullopt);
  EXPECT_EQ(own_cpus(), before);
}

TEST_F(NumaTest, KeepsToWhatTheUserChose) {
  split_cpus(1);
  if (IsSkipped()) return;
  std::thread([&] {
    const auto all = own_cpus();
    run_on(all.front());
    EXPECT_EQ(pin_this_thread_near("mlx5_0", 1, tree_.path()), std::nullopt) << "none is there";
    EXPECT_EQ(own_cpus(), std::vector{all.front()});
    run_on(all.back());
    EXPECT_EQ(pin_this_thread_near("mlx5_0", 1, tree_.path()), std::nullopt) << "it is there";
    EXPECT_EQ(own_cpus(), std::vector{all.back()});
  }).join();
}

TEST_F(NumaTest, LeavesAThreadThatMayNotRunNearTheDevice) {
  const auto before = own_cpus();
  if (before.back() == kNoCpu) GTEST_SKIP() << "there are as many processors as can be";
  tree_.put_device_on("0");
  tree_.make_node(0, std::to_string(kNoCpu));
  EXPECT_EQ(pin_this_thread_near("mlx5_0", 1, tree_.path()), std::nullopt);
  EXPECT_FALSE(pin_this_thread_to(0, tree_.path()));
  EXPECT_EQ(own_cpus(), before);
}

TEST_F(NumaTest, LeavesAThreadWhoseDeviceHasNoNode) {
  EXPECT_EQ(pin_this_thread_near("soft0", 1, tree_.path()), std::nullopt);
}

TEST_F(NumaTest, PrefersANodeForMemory) {
  const auto memory = MemoryMapping::anonymous(page_size());
  const int error = prefer_node(memory.bytes(), 0);
  if (error == ENOSYS || error == EPERM) GTEST_SKIP() << "mbind: " << error;
  ASSERT_EQ(error, 0);
  int mode = MPOL_DEFAULT;
  ASSERT_EQ(::get_mempolicy(&mode, nullptr, 0, memory.data(), MPOL_F_ADDR), 0);
  EXPECT_EQ(mode, MPOL_PREFERRED);
}

TEST_F(NumaTest, RefusesNodesThatCannotBe) {
  const auto memory = MemoryMapping::anonymous(page_size());
  EXPECT_EQ(prefer_node(memory.bytes(), -1), EINVAL);
  EXPECT_NE(prefer_node(memory.bytes(), 1023), 0);
}

}  // namespace
}  // namespace rdmablk
