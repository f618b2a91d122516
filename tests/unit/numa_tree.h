#pragma once

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace rdmablk {

/// A tree like the kernel's /sys, with one device and as many nodes as a test makes; gone with
/// this.
class NumaTree {
 public:
  NumaTree() {
    std::string pattern = std::filesystem::temp_directory_path() / "rdmablk-numa-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~NumaTree() { std::filesystem::remove_all(path_); }
  NumaTree(const NumaTree&) = delete;
  NumaTree& operator=(const NumaTree&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  /// The device is mlx5_0.
  void put_device_on(const std::string& node) const {
    write("class/infiniband/mlx5_0/device/numa_node", node);
  }
  void make_node(int node, const std::string& cpus) const {
    write("devices/system/node/node" + std::to_string(node) + "/cpulist", cpus);
  }

 private:
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text << '\n';
  }

  std::filesystem::path path_;
};

/// The processors of a set, by number.
inline std::vector<int> numbers_of(const cpu_set_t& cpus) {
  std::vector<int> numbers;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &cpus)) numbers.push_back(cpu);
  }
  return numbers;
}

/// Those that the calling thread may use.
inline std::vector<int> own_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::pthread_getaffinity_np(::pthread_self(), sizeof cpus, &cpus);
  return numbers_of(cpus);
}

/// Lets the calling thread run on one processor only, as taskset(1) would.
inline void run_on(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<std::size_t>(cpu), &cpus);
  ::pthread_setaffinity_np(::pthread_self(), sizeof cpus, &cpus);
}

}  // namespace rdmablk
