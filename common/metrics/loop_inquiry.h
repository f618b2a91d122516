#pragma once

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "common/error.h"

namespace rdmablk::metrics {

/// Asks a thread that runs an event loop for something that it alone may look at, from other
/// threads, which wait for a limited time. One question is on its way at a time, however many ask:
/// those that come meanwhile get the same answer.
template <typename Answer>
class LoopInquiry {
 public:
  static constexpr std::chrono::milliseconds kPatience{2000};

  /// @param look is called on the loop's thread; both outlive this. Throws nothing but
  /// std::exception, which is the answer then.
  /// @param patience how long those who ask wait.
  LoopInquiry(asio::io_context& io, std::function<Answer()> look,
              std::chrono::milliseconds patience = kPatience)
      : shared_(std::make_shared<Shared>(std::move(look))), io_(io), patience_(patience) {}

  /// Nobody waits any more, and nothing is asked for from here on. On the loop's thread.
  ~LoopInquiry() { close(); }
  LoopInquiry(const LoopInquiry&) = delete;
  LoopInquiry& operator=(const LoopInquiry&) = delete;

  /// Any thread but the loop's. Throws Error when there is no answer in time.
  std::shared_ptr<const Answer> ask() {
    std::unique_lock lock(shared_->mutex);
    const auto round = shared_->round;
    if (!std::exchange(shared_->is_asked, true)) {
      asio::post(io_, [shared = shared_] { answer(*shared); });
    }
    const bool answered = shared_->changed.wait_for(
        lock, patience_, [&] { return shared_->is_closed || shared_->round != round; });
    if (shared_->is_closed) throw Error("it is about to end");
    if (!answered) throw Error("it is busy: there is no answer in time");
    if (!shared_->answer) throw Error(shared_->failure);
    return shared_->answer;
  }

  /// As at the end. On the loop's thread.
  void close() noexcept {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_closed = true;
    shared_->changed.notify_all();
  }

 private:
  struct Shared {
    explicit Shared(std::function<Answer()> to_look) : look(std::move(to_look)) {}

    std::function<Answer()> look;
    std::mutex mutex;
    std::condition_variable changed;
    unsigned long round = 0;  ///< how often there was an answer
    bool is_asked = false;
    bool is_closed = false;
    std::shared_ptr<const Answer> answer;
    std::string failure;
  };

  static void answer(Shared& shared) {
    std::shared_ptr<const Answer> answer;
    std::string failure;
    {
      const std::lock_guard lock(shared.mutex);
      if (shared.is_closed) return;
    }
    try {
      answer = std::make_shared<const Answer>(shared.look());
    } catch (const std::exception& error) {
      failure = error.what();
    }
    const std::lock_guard lock(shared.mutex);
    shared.answer = std::move(answer);
    shared.failure = std::move(failure);
    shared.is_asked = false;
    ++shared.round;
    shared.changed.notify_all();
  }

  std::shared_ptr<Shared> shared_;
  asio::io_context& io_;
  std::chrono::milliseconds patience_;
};

}  // namespace rdmablk::metrics
