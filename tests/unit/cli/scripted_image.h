#pragma once

#include <functional>
#include <memory>

#include "initiator/image.h"
#include "initiator/request_list.h"

namespace rdmablk::cli {

/// An image without content, whose requests end at once as a script says.
class ScriptedImage final : public initiator::Image {
 public:
  /// @param number counts the requests of one queue from 0. @return 0, or the errno value that the
  /// request ends with. Called by the queue's thread.
  using Script = std::function<int(initiator::Request& request, unsigned number)>;

  ScriptedImage(std::uint64_t size, Script script) : script_(std::move(script)) {
    info_.size = size;
  }

  const initiator::ImageInfo& info() const noexcept override { return info_; }

  std::unique_ptr<initiator::Queue> make_queue(unsigned /*depth*/) override {
    return std::make_unique<ScriptedQueue>(script_);
  }

  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override {
    return std::make_unique<initiator::RequestBuffers>(bytes);
  }

 private:
  class ScriptedQueue final : public initiator::Queue {
   public:
    explicit ScriptedQueue(const Script& script) : script_(script) {}

    void submit(initiator::Request& request) noexcept override {
      request.error = script_(request, number_++);
      done_.push(request);
    }
    void kick() noexcept override {}
    std::size_t poll(std::span<initiator::Request*> done) noexcept override {
      std::size_t count = 0;
      while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
      return count;
    }
    int fd() const noexcept override { return -1; }  // nobody ever has to wait
    void arm() noexcept override {}

   private:
    const Script& script_;
    unsigned number_ = 0;
    initiator::RequestList done_;
  };

  initiator::ImageInfo info_;
  Script script_;
};

}  // namespace rdmablk::cli
