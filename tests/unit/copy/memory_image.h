#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "initiator/image.h"
#include "initiator/request_list.h"

namespace rdmablk::copy {

/// An image in this process's memory that notes what is asked of it, and fails when it is told to.
/// Requests end at once.
class MemoryImage final : public initiator::Image {
 public:
  using Request = initiator::Request;
  using Operation = initiator::Operation;

  explicit MemoryImage(std::size_t size) : bytes(size) {
    info_.name = "memory";
    info_.size = size;
    info_.block_size = 512;
  }

  const initiator::ImageInfo& info() const noexcept override { return info_; }
  initiator::ImageInfo& info() noexcept { return info_; }

  std::unique_ptr<initiator::Queue> make_queue(unsigned /*depth*/) override {
    return std::make_unique<MemoryQueue>(*this);
  }
  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t count) override {
    return std::make_unique<initiator::RequestBuffers>(count);
  }

  /// What was asked for, of one kind; their total length.
  std::uint64_t total(Operation operation) const {
    std::uint64_t sum = 0;
    for (const Request& request : requests) {
      if (request.operation == operation) sum += request.length;
    }
    return sum;
  }
  std::size_t count(Operation operation) const {
    return static_cast<std::size_t>(
        std::count_if(requests.begin(), requests.end(),
                      [&](const Request& request) { return request.operation == operation; }));
  }

  std::vector<std::byte> bytes;
  std::vector<Request> requests;

  /// @return an errno value for a request that is to fail.
  std::function<int(const Request&)> fails = [](const Request&) { return 0; };

 private:
  class MemoryQueue final : public initiator::Queue {
   public:
    explicit MemoryQueue(MemoryImage& image) : image_(image) {}

    void submit(Request& request) noexcept override {
      request.error = image_.perform(request);
      done_.push(request);
    }
    void kick() noexcept override {}
    std::size_t poll(std::span<Request*> done) noexcept override {
      std::size_t count = 0;
      while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
      return count;
    }
    int fd() const noexcept override { return -1; }
    void arm() noexcept override {}

   private:
    MemoryImage& image_;
    initiator::RequestList done_;
  };

  int perform(Request& request) {
    const std::lock_guard lock(mutex_);
    requests.push_back(request);
    if (const int error = fails(request)) return error;
    std::byte* const place = bytes.data() + request.offset;
    if (request.operation == Operation::flush) return 0;
    if (request.offset + request.length > bytes.size()) return EINVAL;
    if (request.operation == Operation::read) std::memcpy(request.data, place, request.length);
    if (request.operation == Operation::write) std::memcpy(place, request.data, request.length);
    if (request.operation == Operation::zero || request.operation == Operation::discard) {
      std::memset(place, 0, request.length);
    }
    return 0;
  }

  initiator::ImageInfo info_;
  std::mutex mutex_;
};

}  // namespace rdmablk::copy
