#include "common/numa.h"

#include <gtest/gtest.h>
#include <numaif.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include "common/memory_mapping.h"

namespace rdmablk {
namespace {

namespace fs = std::filesystem;

/// A tree like the kernel's, with one device and as many nodes as a test makes.
class NumaTest : public ::testing::Test {
 protected:
  NumaTest() {
    std::string pattern = fs::temp_directory_path() / "rdmablk-numa-XXXXXX";
    sysfs_ = ::mkdtemp(pattern.data());
  }
  ~NumaTest() override { fs::remove_all(sysfs_); }

  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((sysfs_ / file).parent_path());
    std::ofstream(sysfs_ / file) << text << '\n';
  }
  void put_device_on(const std::string& node) const {
    write("class/infiniband/mlx5_0/device/numa_node", node);
  }
  void make_node(int node, const std::string& cpus) const {
    write(fs::path("devices/system/node") / ("node" + std::to_string(node)) / "cpulist", cpus);
  }

  /// The processors of a node, by number.
  std::vector<int> cpus_of(int node) const {
    std::vector<int> numbers;
    const auto cpus = node_cpus(node, sysfs_);
    for (int cpu = 0; cpus && cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &*cpus)) numbers.push_back(cpu);
    }
    return numbers;
  }

  fs::path sysfs_;
};

cpu_set_t allowed_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::pthread_getaffinity_np(::pthread_self(), sizeof cpus, &cpus);
  return cpus;
}

int first_of(const cpu_set_t& cpus) {
  int cpu = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(cpu), &cpus)) ++cpu;
  return cpu;
}

TEST_F(NumaTest, KnowsTheNodeOfADevice) {
  put_device_on("1");
  EXPECT_EQ(device_numa_node("mlx5_0", sysfs_), 1);
}

TEST_F(NumaTest, KnowsNoNodeWhereTheKernelKnowsNone) {
  put_device_on("-1");
  EXPECT_EQ(device_numa_node("mlx5_0", sysfs_), std::nullopt);
  EXPECT_EQ(device_numa_node("soft0", sysfs_), std::nullopt);
  put_device_on("many");
  EXPECT_EQ(device_numa_node("mlx5_0", sysfs_), std::nullopt);
}

TEST_F(NumaTest, ReadsTheProcessorsOfANode) {
  make_node(0, "0-2,5,8-9");
  EXPECT_EQ(cpus_of(0), (std::vector{0, 1, 2, 5, 8, 9}));
}

TEST_F(NumaTest, HasNoProcessorsWhereThereAreNone) {
  make_node(0, "");
  make_node(1, "3-1");
  make_node(2, "0,x");
  make_node(3, "0-99999");
  for (const int node : {0, 1, 2, 3, 4}) EXPECT_EQ(node_cpus(node, sysfs_), std::nullopt) << node;
}

TEST_F(NumaTest, PinsAThreadToTheProcessorsOfTheDevice) {
  const int cpu = first_of(allowed_cpus());
  put_device_on("3");
  make_node(3, std::to_string(cpu));
  std::thread([&] {
    EXPECT_TRUE(pin_this_thread_near("mlx5_0", sysfs_));
    const cpu_set_t now = allowed_cpus();
    EXPECT_EQ(CPU_COUNT(&now), 1);
    EXPECT_EQ(first_of(now), cpu);
  }).join();
}

TEST_F(NumaTest, LeavesAThreadThatMayNotRunNearTheDevice) {
  cpu_set_t before = allowed_cpus();
  if (CPU_ISSET(CPU_SETSIZE - 1, &before)) GTEST_SKIP() << "there are as many processors as can be";
  put_device_on("0");
  make_node(0, std::to_string(CPU_SETSIZE - 1));
  EXPECT_FALSE(pin_this_thread_near("mlx5_0", sysfs_));
  cpu_set_t after = allowed_cpus();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST_F(NumaTest, LeavesAThreadWhoseDeviceHasNoNode) {
  EXPECT_FALSE(pin_this_thread_near("soft0", sysfs_));
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
