#include "common/softverbs/verbs/shared_table.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include <cerrno>
#include <climits>
#include <system_error>

namespace softverbs {
namespace {

/// How often a waiter looks whether the holder has died; being freed wakes it at once.
constexpr long kDeathCheckNs = 20'000'000;

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

bool has_died(int pidfd) {
  if (pidfd < 0) return false;
  pollfd entry{pidfd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

}  // namespace

SharedTableMapping::SharedTableMapping(int memfd) {
  struct stat status {};
  if (fstat(memfd, &status) != 0 || static_cast<size_t>(status.st_size) != sizeof(SharedTable)) {
    throw std::system_error(EPROTO, std::generic_category(),
                            "the peer's table is not of this version of softverbs");
  }
  void* memory = mmap(nullptr, sizeof(SharedTable), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, memfd, 0);
  if (memory == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mapping a table of softverbs");
  }
  madvise(memory, sizeof(SharedTable), MADV_DONTDUMP);
  table_ = static_cast<SharedTable*>(memory);
}

SharedTableMapping::~SharedTableMapping() {
  if (table_ != nullptr) munmap(table_, sizeof(SharedTable));
}

FileDescriptor SharedTableMapping::create() {
  FileDescriptor memfd(memfd_create("softverbs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memfd || ftruncate(memfd.get(), sizeof(SharedTable)) != 0) {
    throw std::system_error(errno, std::generic_category(), "creating the table of softverbs");
  }
  fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  return memfd;
}

BusyWord::BusyWord(std::atomic<uint32_t>& word) : word_(word) {
  const uint32_t count = word.load(std::memory_order_relaxed) & ~(kHeld | kWaited);
  word.store((count + kOne) | kHeld);
}

BusyWord::~BusyWord() {
  const uint32_t count = word_.load(std::memory_order_relaxed) & ~(kHeld | kWaited);
  if (word_.exchange(count) & kWaited) futex(word_, FUTEX_WAKE, INT_MAX, nullptr);
}

void BusyWord::wait_until_free(std::atomic<uint32_t>& word, int owner_pidfd) {
  uint32_t seen = word.load();
  const uint32_t count = seen & ~(kHeld | kWaited);
  while ((seen & kHeld) && (seen & ~(kHeld | kWaited)) == count) {
    if (has_died(owner_pidfd)) {
      word.store(count);
      return;
    }
    if (!(seen & kWaited) && !word.compare_exchange_strong(seen, seen | kWaited)) continue;
    const timespec timeout{0, kDeathCheckNs};
    futex(word, FUTEX_WAIT, count | kHeld | kWaited, &timeout);
    seen = word.load();
  }
}

}  // namespace softverbs
