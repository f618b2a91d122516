#include "target/io_threads.h"

namespace rdmablk::target {

IoThreads::IoThreads(std::size_t count, std::span<const int> files) {
  for (unsigned i = 0; i < count; ++i) threads_.push_back(std::make_unique<IoThread>(i, files));
  blocking_ = std::make_unique<IoThread>(static_cast<unsigned>(count), std::span<const int>());
}

IoThread& IoThreads::next() noexcept {
  IoThread& thread = *threads_[next_];
  next_ = (next_ + 1) % threads_.size();
  return thread;
}

}  // namespace rdmablk::target
