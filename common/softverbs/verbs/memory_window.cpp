#include "common/softverbs/verbs/memory_window.h"

#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/softverbs/file_descriptor.h"
#include "common/softverbs/verbs/memory_region.h"

namespace softverbs {
namespace {

/// Takes a copy of a descriptor of another process. The kernel allows it to whom it allows to copy
/// from and to that process's memory.
FileDescriptor fetch_descriptor(int pidfd, int number) {
  return FileDescriptor(static_cast<int>(syscall(SYS_pidfd_getfd, pidfd, number, 0)));
}

}  // namespace

MemoryWindows::~MemoryWindows() {
  close_all();
}

char* MemoryWindows::find(int pidfd, uint32_t key, const MemoryRegionSlot& region,
                          uint64_t address) {
  if (region.memfd.load(std::memory_order_relaxed) < 0) return nullptr;
  Window* window = at(key);
  if (window == nullptr || window->key.load(std::memory_order_acquire) != key) {
    window = &open(pidfd, key, region);
  }
  char* start = window->region.load(std::memory_order_relaxed);
  if (start == nullptr) return nullptr;
  return start + (address - region.address.load(std::memory_order_relaxed));
}

MemoryWindows::Window* MemoryWindows::at(uint32_t key) {
  const size_t index = index_of_key(key);
  Group* group = groups_[index / kGroup].load(std::memory_order_acquire);
  return group == nullptr ? nullptr : &(*group)[index % kGroup];
}

MemoryWindows::Window& MemoryWindows::open(int pidfd, uint32_t key,
                                           const MemoryRegionSlot& region) {
  const std::lock_guard lock(mutex_);
  if (at(key) == nullptr) {
    owned_.push_back(std::make_unique<Group>());
    groups_[index_of_key(key) / kGroup].store(owned_.back().get(), std::memory_order_release);
  }
  Window& window = *at(key);
  if (window.key.load(std::memory_order_relaxed) == key) return window;
  unmap(window);  // Of a region that had the index before.
  map(window, pidfd, region);
  window.key.store(key, std::memory_order_release);
  return window;
}

void MemoryWindows::map(Window& window, int pidfd, const MemoryRegionSlot& region) {
  const FileDescriptor memfd = fetch_descriptor(pidfd, region.memfd.load());
  struct stat status {};
  if (!memfd || fstat(memfd.get(), &status) != 0) return;
  // Huge pages are mapped whole; of other files this is the size of a page or some pages.
  const auto alignment = static_cast<uint64_t>(status.st_blksize);
  const uint64_t offset = region.memfd_offset.load();
  const uint64_t before = offset % alignment;
  const size_t size = (before + region.length.load() + alignment - 1) / alignment * alignment;
  const bool writable = (region.access.load() & IBV_ACCESS_REMOTE_WRITE) != 0;
  void* mapping =
      mmap(nullptr, size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED | MAP_NORESERVE,
           memfd.get(), static_cast<off_t>(offset - before));
  if (mapping == MAP_FAILED) return;
  madvise(mapping, size, MADV_DONTDUMP);
  madvise(mapping, size, MADV_DONTFORK);
  window.mapping = mapping;
  window.size = size;
  window.region = static_cast<char*>(mapping) + before;
}

void MemoryWindows::unmap(Window& window) {
  window.key.store(0, std::memory_order_relaxed);
  if (window.mapping != nullptr) munmap(window.mapping, window.size);
  window.mapping = nullptr;
  window.region = nullptr;
}

void MemoryWindows::close(uint32_t key) {
  const std::lock_guard lock(mutex_);
  Window* window = at(key);
  if (window != nullptr && window->key.load(std::memory_order_relaxed) == key) unmap(*window);
}

void MemoryWindows::close_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& group : owned_) {
    for (Window& window : *group) unmap(window);
  }
}

}  // namespace softverbs
