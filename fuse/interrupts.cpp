#include "fuse/interrupts.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"

namespace rdmablk::fuse {

Interrupts::Interrupts(unsigned workers) {
  for (unsigned i = 0; i < workers; ++i) {
    auto box = std::make_unique<Box>();
    box->event.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!box->event) throw SystemError("make an eventfd", errno);
    box->requests.reserve(kMost);
    boxes_.push_back(std::move(box));
  }
}

void Interrupts::post(std::uint64_t request) noexcept {
  for (const auto& box : boxes_) {
    {
      const std::lock_guard lock(box->mutex);
      if (box->requests.size() == kMost) continue;
      box->requests.push_back(request);
      box->filled.store(true, std::memory_order_release);
    }
    ::eventfd_write(box->event.get(), 1);
  }
}

std::size_t Interrupts::take(unsigned worker, std::span<std::uint64_t> requests) noexcept {
  Box& box = *boxes_[worker];
  if (!box.filled.load(std::memory_order_acquire)) return 0;
  eventfd_t ignored = 0;
  ::eventfd_read(box.event.get(), &ignored);
  const std::lock_guard lock(box.mutex);
  const std::size_t count = std::min(requests.size(), box.requests.size());
  std::copy_n(box.requests.end() - static_cast<std::ptrdiff_t>(count), count, requests.begin());
  box.requests.resize(box.requests.size() - count);
  box.filled.store(!box.requests.empty(), std::memory_order_release);
  return count;
}

}  // namespace rdmablk::fuse
