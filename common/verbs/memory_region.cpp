#include "common/verbs/memory_region.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "common/file_text.h"
#include "common/units.h"
#include "common/verbs/context.h"

namespace rdmablk::verbs {
namespace {

/// Whether the kernel lets this process lock as much as it likes (capget(2)).
bool may_exceed_memlock() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return false;
  return (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

/// Bytes that this process has locked and pinned so far, as proc(5) tells.
std::uint64_t locked_memory() {
  const std::string text = read_file_text("/proc/self/status").value_or("");
  std::uint64_t kilobytes = 0;
  for (const std::string_view key : {"\nVmLck:", "\nVmPin:"}) {
    const auto found = text.find(key);
    if (found == std::string::npos) continue;
    kilobytes += std::strtoull(text.c_str() + found + key.size(), nullptr, 10);
  }
  return kilobytes * 1024;
}

}  // namespace

std::uint64_t memlock_limit() {
  rlimit limit{};
  if (may_exceed_memlock() || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return UINT64_MAX;
  return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

MemlockError::MemlockError(const std::string& doing, std::uint64_t needed)
    : Error(fmt::format(
          "cannot {}: the limit of locked memory is {}, and {} is needed in all; raise it with "
          "`ulimit -l {}` in the shell, LimitMEMLOCK= in the systemd unit, or --ulimit memlock=-1 "
          "for a container",
          doing, format_size(memlock_limit()), format_size(needed), (needed + 1023) / 1024)) {}

MemoryRegion::MemoryRegion(const ProtectionDomain& pd, std::span<std::byte> memory, unsigned access)
    : mr_(ibv_reg_mr(pd.get(), memory.data(), memory.size(), static_cast<int>(access))) {
  if (mr_) return;
  const int error = errno;
  const std::string doing = fmt::format("register {} of memory with RDMA device {}",
                                        format_size(memory.size()), device_name(pd.context()));
  if (error == ENOMEM && memlock_limit() != UINT64_MAX) {
    throw MemlockError(doing, locked_memory() + memory.size());
  }
  const std::uint64_t most = query_device(pd.context()).max_mr_size;
  if (most > 0 && memory.size() > most) {
    throw Error(fmt::format("cannot {}: it takes {} in one piece", doing, format_size(most)));
  }
  throw SystemError(doing, error);
}

unsigned local_access(const ibv_context* context) noexcept {
  return is_iwarp(context) ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
                           : IBV_ACCESS_LOCAL_WRITE;
}

}  // namespace rdmablk::verbs
