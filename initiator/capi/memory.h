#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "initiator/capi/rdmablk.h"
#include "initiator/request_buffers.h"

/// Memory that an image's device may reach: the library's or the program's.
struct rdmablk_memory {
  rdmablk_memory(rdmablk_image& image,
                 std::unique_ptr<rdmablk::initiator::RequestBuffers> buffers) noexcept
      : image_(image),
        bytes_(buffers->bytes()),
        keys_(*buffers->keys()),
        own_(std::move(buffers)) {}
  rdmablk_memory(rdmablk_image& image,
                 std::unique_ptr<rdmablk::initiator::Registration> registration) noexcept
      : image_(image),
        bytes_(registration->memory()),
        keys_(registration->keys()),
        registration_(std::move(registration)) {}
  rdmablk_memory(const rdmablk_memory&) = delete;
  rdmablk_memory& operator=(const rdmablk_memory&) = delete;

  rdmablk_image& image() const noexcept { return image_; }
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  const rdmablk::initiator::MemoryKeys& keys() const noexcept { return keys_; }

  bool holds(const void* data, std::size_t length) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.data());
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    return at >= begin && at - begin <= bytes_.size() && length <= bytes_.size() - (at - begin);
  }

  /// Requests that it is not to be freed for: counted by the threads of all queues.
  void begin_use() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
  void end_use() noexcept { uses_.fetch_sub(1, std::memory_order_release); }
  bool is_used() const noexcept { return uses_.load(std::memory_order_acquire) > 0; }

 private:
  rdmablk_image& image_;
  std::span<std::byte> bytes_;
  const rdmablk::initiator::MemoryKeys& keys_;
  std::unique_ptr<rdmablk::initiator::RequestBuffers> own_;
  std::unique_ptr<rdmablk::initiator::Registration> registration_;
  alignas(64) std::atomic<std::uint32_t> uses_ = 0;
};
