#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace rdmablk::capi {

/// Sees to it that queues which the program does not use for a while take up what they are told, as
/// another size of the image: the target waits for all of them. On a thread of its own, which
/// sleeps until it is called.
class Caretaker {
 public:
  /// @param care called now and then for a few seconds after each call(), on that thread.
  explicit Caretaker(std::function<void()> care);

  /// From any thread.
  void call() noexcept;

 private:
  void work(const std::stop_token& stop);

  std::function<void()> care_;
  std::mutex mutex_;
  std::condition_variable_any called_;
  bool is_called_ = false;
  std::jthread thread_;
};

}  // namespace rdmablk::capi
