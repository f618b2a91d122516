#include <cstdlib>
#include <new>

#include "tests/hot_path/counter.h"

// The C library's own names, as dlsym(3) may allocate.
extern "C" {
void* __libc_malloc(std::size_t size) noexcept;                           // NOLINT
void* __libc_calloc(std::size_t count, std::size_t size) noexcept;        // NOLINT
void* __libc_realloc(void* memory, std::size_t size) noexcept;            // NOLINT
void* __libc_memalign(std::size_t alignment, std::size_t size) noexcept;  // NOLINT
}

namespace {

void count_allocation(const void* caller) noexcept {
  hot_path::count(hot_path::allocation, caller);
}

void* found(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define COUNTED [[gnu::visibility("default")]]
#define COUNT_CALL count_allocation(__builtin_return_address(0))

extern "C" {
COUNTED void* malloc(std::size_t size) noexcept {
  COUNT_CALL;
  return __libc_malloc(size);
}
COUNTED void* calloc(std::size_t count, std::size_t size) noexcept {
  COUNT_CALL;
  return __libc_calloc(count, size);
}
COUNTED void* realloc(void* memory, std::size_t size) noexcept {
  COUNT_CALL;
  return __libc_realloc(memory, size);
}
COUNTED void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  COUNT_CALL;
  return __libc_memalign(alignment, size);
}
COUNTED int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  COUNT_CALL;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? 12 /* ENOMEM */ : 0;
}
}

// libstdc++'s would call malloc from libstdc++, whoever asked.
COUNTED void* operator new(std::size_t size) {
  COUNT_CALL;
  return found(__libc_malloc(size));
}
COUNTED void* operator new[](std::size_t size) {
  COUNT_CALL;
  return found(__libc_malloc(size));
}
COUNTED void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  COUNT_CALL;
  return __libc_malloc(size);
}
COUNTED void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  COUNT_CALL;
  return __libc_malloc(size);
}
COUNTED void* operator new(std::size_t size, std::align_val_t alignment) {
  COUNT_CALL;
  return found(__libc_memalign(static_cast<std::size_t>(alignment), size));
}
COUNTED void* operator new[](std::size_t size, std::align_val_t alignment) {
  COUNT_CALL;
  return found(__libc_memalign(static_cast<std::size_t>(alignment), size));
}
