#pragma once

#include <cerrno>
#include <functional>
#include <memory>

#include "initiator/image.h"
#include "initiator/null_image.h"

namespace rdmablk::cli {

/// An image in local memory that asks what becomes of each request before it is carried out.
class ScriptedImage final : public initiator::Image {
 public:
  /// @param number counts the requests of one queue from 0. @return 0, or the errno value that the
  /// request ends with; one request of a queue may fail. Called by the queue's thread.
  using Script = std::function<int(const initiator::Request& request, unsigned number)>;

  ScriptedImage(std::uint64_t size, Script script)
      : memory_("scripted", size, false), script_(std::move(script)) {}

  const initiator::ImageInfo& info() const noexcept override { return memory_.info(); }

  std::unique_ptr<initiator::Queue> make_queue(unsigned depth) override {
    return std::make_unique<ScriptedQueue>(memory_.make_queue(depth), script_);
  }

  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override {
    return memory_.make_buffers(bytes);
  }

 private:
  class ScriptedQueue final : public initiator::Queue {
   public:
    ScriptedQueue(std::unique_ptr<initiator::Queue> queue, const Script& script)
        : queue_(std::move(queue)), script_(script) {}

    void submit(initiator::Request& request) noexcept override {
      if (const int error = script_(request, number_++)) {
        failed_ = &request;
        error_ = error;
      }
      queue_->submit(request);
    }
    void kick() noexcept override { queue_->kick(); }
    std::size_t poll(std::span<initiator::Request*> done) noexcept override {
      const std::size_t count = queue_->poll(done);
      for (initiator::Request* request : done.first(count)) {
        if (request == failed_) request->error = error_;
      }
      return count;
    }
    int fd() const noexcept override { return queue_->fd(); }
    void arm() noexcept override { queue_->arm(); }

   private:
    std::unique_ptr<initiator::Queue> queue_;
    const Script& script_;
    unsigned number_ = 0;
    initiator::Request* failed_ = nullptr;
    int error_ = 0;
  };

  initiator::NullImage memory_;
  Script script_;
};

}  // namespace rdmablk::cli
