#include "initiator/cli/bench_worker.h"

#include <poll.h>

#include <array>
#include <cstring>
#include <random>

namespace rdmablk::cli {
namespace {

using initiator::Operation;
using initiator::Request;

/// How long to look for completions before sleeping: about what a wake-up costs.
constexpr std::chrono::microseconds kSpin{20};

/// Fills memory, whose size is a multiple of 8, with bytes that nothing on the way could compress,
/// and touches it by that.
void fill(std::span<std::byte> memory, unsigned seed) {
  std::mt19937_64 random(seed);
  while (memory.size() >= sizeof(std::uint64_t)) {
    const std::uint64_t value = random();
    std::memcpy(memory.data(), &value, sizeof value);
    memory = memory.subspan(sizeof value);
  }
}

}  // namespace

BenchWorker::BenchWorker(initiator::Image& image, const BenchOptions& options,
                         const BenchRange& range, unsigned queue, BenchSignals& signals,
                         const TickClock& clock)
    : signals_(signals),
      clock_(clock),
      pattern_(options, range, queue),
      buffers_(image.make_buffers(options.buffer_bytes())),
      requests_(options.depth),
      submitted_(options.depth),
      ended_(options.depth),
      queue_(image.make_queue(options.depth)) {
  fill(buffers_->bytes(), queue);
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    requests_[i].data = buffers_->bytes().data() + i * options.block_size;
    requests_[i].keys = buffers_->keys();
  }
}

void BenchWorker::run() noexcept {
  warm_up();
  signals_.report();
  signals_.wait_for_begin();
  work();
  end_ = Clock::now();
  signals_.report();
}

void BenchWorker::warm_up() noexcept {
  submit_all();
  while (in_flight_ > 0 && !signals_.abandoned()) {
    for (const Request* request : wait()) note_failure(*request);
  }
}

void BenchWorker::work() noexcept {
  if (failure_ || signals_.stopped() || in_flight_ > 0) return;
  submit_all();
  std::uint64_t operations = 0;
  while (in_flight_ > 0 && !signals_.abandoned()) {
    const auto ended = wait();
    const auto now = clock_.now();
    for (Request* request : ended) {
      note_failure(*request);
      if (failure_) continue;
      record(*request, now);
      ++operations;
      if (!signals_.stopped()) submit(*request, now);
    }
    queue_->kick();
    operations_.store(operations, std::memory_order_relaxed);
  }
}

void BenchWorker::submit_all() noexcept {
  const auto now = clock_.now();
  for (Request& request : requests_) submit(request, now);
  queue_->kick();
}

void BenchWorker::submit(Request& request, std::chrono::nanoseconds now) noexcept {
  pattern_.aim(request);
  submitted_[static_cast<std::size_t>(&request - requests_.data())] = now;
  ++in_flight_;
  queue_->submit(request);
}

/// Waits until at least one request has ended, or they are abandoned.
std::span<Request*> BenchWorker::wait() noexcept {
  std::size_t count = spin();
  while (count == 0 && !signals_.abandoned()) {
    queue_->arm();
    count = queue_->poll(ended_);
    if (count > 0) break;
    std::array<pollfd, 2> waiting{{{queue_->fd(), POLLIN, 0}, {signals_.abandon_fd(), POLLIN, 0}}};
    ::poll(waiting.data(), waiting.size(), -1);
    count = queue_->poll(ended_);
  }
  in_flight_ -= static_cast<unsigned>(count);
  return std::span(ended_).first(count);
}

std::size_t BenchWorker::spin() noexcept {
  std::size_t count = queue_->poll(ended_);
  if (count > 0) return count;
  const auto until = clock_.now() + kSpin;
  do {
    count = queue_->poll(ended_);
  } while (count == 0 && clock_.now() < until);
  return count;
}

void BenchWorker::record(const Request& request, std::chrono::nanoseconds now) noexcept {
  const auto start = submitted_[static_cast<std::size_t>(&request - requests_.data())];
  (request.operation == Operation::read ? reads_ : writes_).add(now - start);
}

void BenchWorker::note_failure(const Request& request) noexcept {
  if (request.error == 0 || failure_) return;
  failure_ = {request.operation, request.offset, request.length, request.error};
  signals_.stop();
}

}  // namespace rdmablk::cli
