#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <list>
#include <thread>

#include "common/lifetime.h"

namespace rdmablk::target {

/// Work that blocks, each piece on a thread of its own, while the event loop goes on. Used by the
/// control thread.
class Background {
 public:
  /// @param io outlives this.
  explicit Background(asio::io_context& io) : io_(io) {}

  /// Waits for what is under way; nobody is told of it any more.
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// @param work on the thread, or at once where no thread can be made; must not throw.
  /// @param done then called, from the event loop.
  void run(std::function<void()> work, std::function<void()> done);

 private:
  asio::io_context& io_;
  std::list<std::thread> threads_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
