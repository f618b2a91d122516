#pragma once

#include <sched.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace rdmablk {

/// Where the kernel tells of devices and nodes. Another one is of use to tests.
inline const std::filesystem::path kSysfs = "/sys";

/// The NUMA node that an RDMA device is attached to.
/// @param device its name: "mlx5_0".
/// @return nothing when the kernel does not know (it says -1), or knows no such device: software
/// devices have no node.
std::optional<int> device_numa_node(const std::string& device,
                                    const std::filesystem::path& sysfs = kSysfs);

/// The processors of a node; nothing when there is no such node, or it has memory alone.
std::optional<cpu_set_t> node_cpus(int node, const std::filesystem::path& sysfs = kSysfs);

/// The processors that the calling thread may use (sched_getaffinity(2)), with `node` only those of
/// that node, if it may use any there; nothing when the kernel does not say.
std::optional<cpu_set_t> usable_cpus(std::optional<int> node = std::nullopt,
                                     const std::filesystem::path& sysfs = kSysfs);

/// Lets the calling thread, and those that it makes from here on, run on the processors of a node
/// only, as far as it may run there now (taskset, CPUAffinity=, cgroups). Does nothing when it may
/// use none of them.
/// @return whether it may run on fewer processors now.
bool pin_this_thread_to(int node, const std::filesystem::path& sysfs = kSysfs);

/// The same with the node of a device. Does nothing, besides, when the node is unknown, or when the
/// threads would find fewer processors there than now, and not one for each.
/// @param threads that are to run there.
/// @return the node, when the thread may run on fewer processors now: never where there is one
/// node.
std::optional<int> pin_this_thread_near(const std::string& device, unsigned threads,
                                        const std::filesystem::path& sysfs = kSysfs);

/// Has the kernel take the pages of memory from a node as long as that has any (mbind(2)). To be
/// called before the memory is touched; pages that are there already stay where they are.
/// @param memory begins at a page. Shared memory keeps the policy for all who map it.
/// @return 0 or an errno value: ENOSYS and EPERM where the kernel or a sandbox has no mbind.
int prefer_node(std::span<std::byte> memory, int node) noexcept;

}  // namespace rdmablk
