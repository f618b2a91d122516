#include "common/softverbs/verbs/pinned_memory.h"

#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace softverbs {
namespace {

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

uint64_t first_page(uint64_t address) {
  return address / page_size();
}

uint64_t page_count(uint64_t address, size_t length) {
  return first_page(address + length - 1) - first_page(address) + 1;
}

bool may_exceed_limit() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  return (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

}  // namespace

int PinnedMemory::pin(uint64_t address, size_t length) {
  const uint64_t pages = page_count(address, length);
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  std::lock_guard lock(mutex_);
  const bool over =
      limit.rlim_cur != RLIM_INFINITY && pages_ + pages > limit.rlim_cur / page_size();
  if (over && !may_exceed_limit()) return ENOMEM;
  pages_ += pages;
  return 0;
}

void PinnedMemory::unpin(uint64_t address, size_t length) {
  std::lock_guard lock(mutex_);
  pages_ -= page_count(address, length);
}

int populate(uint64_t address, size_t length, bool writable) {
  const uint64_t start = first_page(address) * page_size();
  const uint64_t bytes = page_count(address, length) * page_size();
  void* memory = reinterpret_cast<void*>(start);
  const int advice = writable ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  if (madvise(memory, 0, advice) != 0) {
    // A kernel before 5.14 does not know the advice; at least the range must be mapped.
    std::vector<unsigned char> resident(page_count(address, length));
    return mincore(memory, bytes, resident.data()) == 0 ? 0 : EFAULT;
  }
  while (madvise(memory, bytes, advice) != 0) {
    if (errno != EINTR && errno != EAGAIN) return EFAULT;
  }
  return 0;
}

}  // namespace softverbs
