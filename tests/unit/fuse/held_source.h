#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "common/unique_fd.h"
#include "fuse/image_source.h"

namespace rdmablk::fuse {

/// An image in memory whose requests are done at once, or held, as a test says: as if the target
/// worked on them, or as if the connection were lost and they waited for it to come back.
class HeldSource final : public ImageSource {
 public:
  using Phase = initiator::SessionState::Phase;

  /// What becomes of requests.
  enum class Mode { done, in_flight, waiting };

  HeldSource(std::size_t size, WorkerPlan plan) : memory_(size), plan_(plan), image_(*this) {}

  void set_mode(Mode mode) {
    {
      const std::lock_guard lock(mutex_);
      mode_ = mode;
    }
    for (const auto* queue : queues_) ::eventfd_write(queue->event.get(), 1);
    changed_.notify_all();
  }

  /// The state that the session is said to be in; it changes by itself no request's fate.
  void set_phase(Phase phase) { phase_ = phase; }

  /// What flushes end with, 0 or an errno value.
  void set_flush_error(int error) { flush_error_ = error; }

  /// Waits until so many requests are held.
  void wait_until_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
  }

  /// Waits until somebody was told that a request cannot be taken back.
  void wait_until_refused() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return refused_; });
  }

  std::size_t held() {
    const std::lock_guard lock(mutex_);
    return held_.size();
  }

  unsigned flushes() const { return flushes_; }
  std::byte byte(std::size_t offset) const {
    const std::lock_guard lock(mutex_);
    return memory_[offset];
  }
  void set_byte(std::size_t offset, std::byte value) {
    const std::lock_guard lock(mutex_);
    memory_[offset] = value;
  }

  initiator::Image& image() noexcept override { return image_; }
  WorkerPlan plan() const noexcept override { return plan_; }
  void start() override {}
  void stop() noexcept override {}
  void report(std::function<protocol::Use()> /*use*/) override {}
  initiator::SessionState state() const override {
    initiator::SessionState state;
    state.phase = phase_;
    state.reconnects = 3;
    state.reason = "the test says so";
    return state;
  }
  initiator::RecoveryOptions recovery() const override {
    const std::lock_guard lock(mutex_);
    return recovery_;
  }
  void set_recovery(const initiator::RecoveryOptions& options) override {
    const std::lock_guard lock(mutex_);
    recovery_ = options;
  }

 private:
  struct HeldQueue final : initiator::Queue {
    explicit HeldQueue(HeldSource& the_source) : source(the_source) {
      source.queues_.push_back(this);
    }
    ~HeldQueue() override {
      const std::lock_guard lock(source.mutex_);
      for (const initiator::Request* request : mine) source.held_.erase(request);
      std::erase(source.queues_, this);
    }
    HeldQueue(const HeldQueue&) = delete;
    HeldQueue& operator=(const HeldQueue&) = delete;

    void submit(initiator::Request& request) noexcept override {
      if (request.operation == initiator::Operation::flush) ++source.flushes_;
      const std::lock_guard lock(source.mutex_);
      mine.insert(&request);
      source.held_.insert(&request);
      source.changed_.notify_all();
    }
    void kick() noexcept override { ::eventfd_write(event.get(), 1); }
    std::size_t poll(std::span<initiator::Request*> done) noexcept override {
      const std::lock_guard lock(source.mutex_);
      std::size_t count = 0;
      while (source.mode_ == Mode::done && count < done.size() && !mine.empty()) {
        initiator::Request* const request = *mine.begin();
        source.perform(*request);
        forget(*request);
        done[count++] = request;
      }
      return count;
    }
    bool cancel(initiator::Request& request) noexcept override {
      const std::lock_guard lock(source.mutex_);
      if (source.mode_ != Mode::waiting) {
        source.refused_ = true;
        source.changed_.notify_all();
        return false;
      }
      forget(request);
      return true;
    }
    int fd() const noexcept override { return event.get(); }
    void arm() noexcept override {
      eventfd_t ignored = 0;
      ::eventfd_read(event.get(), &ignored);
    }
    void forget(initiator::Request& request) {
      mine.erase(&request);
      source.held_.erase(&request);
    }

    HeldSource& source;
    UniqueFd event{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::set<initiator::Request*> mine;
  };

  class HeldImage final : public initiator::Image {
   public:
    explicit HeldImage(HeldSource& source) : source_(source) {
      info_.name = "held";
      info_.size = source.memory_.size();
    }
    const initiator::ImageInfo& info() const noexcept override { return info_; }
    std::unique_ptr<initiator::Queue> make_queue(unsigned /*depth*/) override {
      return std::make_unique<HeldQueue>(source_);
    }
    std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override {
      return std::make_unique<initiator::RequestBuffers>(bytes);
    }

   private:
    HeldSource& source_;
    initiator::ImageInfo info_;
  };

  void perform(initiator::Request& request) {
    std::byte* const place = memory_.data() + request.offset;
    if (request.operation == initiator::Operation::read) {
      std::memcpy(request.data, place, request.length);
    } else if (request.operation == initiator::Operation::write) {
      std::memcpy(place, request.data, request.length);
    } else if (request.operation == initiator::Operation::flush) {
      request.error = flush_error_;
    }
  }

  std::vector<std::byte> memory_;
  WorkerPlan plan_;
  HeldImage image_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Mode mode_ = Mode::done;
  bool refused_ = false;
  std::set<const initiator::Request*> held_;
  std::vector<HeldQueue*> queues_;
  initiator::RecoveryOptions recovery_;
  std::atomic<Phase> phase_ = Phase::connected;
  std::atomic<int> flush_error_ = 0;
  std::atomic<unsigned> flushes_ = 0;
};

}  // namespace rdmablk::fuse
