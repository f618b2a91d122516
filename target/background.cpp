#include "target/background.h"

#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <system_error>
#include <utility>

#include "common/signals.h"

namespace rdmablk::target {

Background::~Background() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void Background::run(std::function<void()> work, std::function<void()> done) {
  const auto place = threads_.emplace(threads_.end());
  const auto end = lifetime_.guard([this, place, done = std::move(done)] {
    if (place->joinable()) place->join();
    threads_.erase(place);
    done();
  });
  const auto all = [&io = io_, work = std::move(work), end,
                    waits = asio::make_work_guard(io_)]() mutable {
    work();
    asio::post(io, end);
  };
  const SignalsBlocked blocked;  // they are for the thread that controls
  try {
    *place = std::thread(all);
  } catch (const std::system_error& /*error*/) {
    auto now = all;
    now();
  }
}

}  // namespace rdmablk::target
