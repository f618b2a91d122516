#include "target/memory_pieces.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace rdmablk::target {
namespace {

/// A thread is worth it for so much memory, which takes some 10 ms to allocate.
constexpr std::uint64_t kWorthAThread = std::uint64_t{64} << 20;

/// Pieces that threads take, one after the other, until there are none or a call has failed.
class Pieces {
 public:
  Pieces(std::span<std::byte> memory, std::uint64_t size, const PieceCall& call)
      : memory_(memory), size_(size), count_((memory.size() + size - 1) / size), call_(call) {}

  std::size_t count() const noexcept { return count_; }

  /// On any number of threads.
  void work() noexcept {
    try {
      for (std::size_t number = next_++; number < count_; number = next_++) {
        const std::size_t offset = number * size_;
        call_(number, memory_.subspan(offset, std::min(size_, memory_.size() - offset)));
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// When no thread works any more.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void fail(std::exception_ptr failure) noexcept {
    next_ = count_;
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
  }

  std::span<std::byte> memory_;
  std::uint64_t size_;
  std::size_t count_;
  const PieceCall& call_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
};

std::size_t useful_threads(std::size_t bytes, std::size_t pieces,
                           const std::optional<cpu_set_t>& processors) {
  const auto most = processors ? static_cast<std::size_t>(CPU_COUNT(&*processors)) : 1;
  return std::min({most, pieces, bytes / kWorthAThread});
}

}  // namespace

void for_each_piece(std::span<std::byte> memory, std::uint64_t piece, std::optional<int> node,
                    const PieceCall& call, const std::filesystem::path& sysfs) {
  Pieces pieces(memory, piece, call);
  const std::size_t threads =
      useful_threads(memory.size(), pieces.count(), usable_cpus(node, sysfs));
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t i = 1; i < threads; ++i) {
        others.emplace_back([&pieces, &sysfs, node] {
          if (node) pin_this_thread_to(*node, sysfs);
          pieces.work();
        });
      }
    } catch (const std::system_error&) {
      // A limit of threads: nothing is lost but time.
    }
    pieces.work();
  }
  pieces.rethrow();
}

}  // namespace rdmablk::target
