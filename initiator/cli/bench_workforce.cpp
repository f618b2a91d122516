#include "initiator/cli/bench_workforce.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kProgressInterval{1};

/// How long the round that does not count may take, at least.
constexpr std::chrono::seconds kWarmUpTime{5};

/// What is left until then, in milliseconds, rounded up, as poll(2) takes it.
int poll_timeout(BenchWorker::Clock::time_point until) {
  if (until == BenchWorker::Clock::time_point::max()) return -1;
  const auto rest = std::chrono::ceil<milliseconds>(until - BenchWorker::Clock::now());
  return static_cast<int>(std::max<milliseconds::rep>(rest.count(), 0));
}

}  // namespace

BenchWorkforce::BenchWorkforce(initiator::Image& image, const BenchOptions& options,
                               const BenchRange& range)
    : options_(options) {
  for (unsigned queue = 0; queue < options.queues; ++queue) {
    workers_.push_back(
        std::make_unique<BenchWorker>(image, options, range, queue, signals_, clock_));
  }
}

BenchWorkforce::~BenchWorkforce() {
  signals_.abandon();
  signals_.begin();
}

BenchResult BenchWorkforce::run() {
  for (const auto& worker : workers_) threads_.emplace_back([raw = worker.get()] { raw->run(); });
  finish_round(Clock::now() + std::max<milliseconds>(options_.time, kWarmUpTime), nullptr);
  const auto start = Clock::now();
  signals_.begin();
  {
    BenchProgress progress(options_);
    finish_round(start + options_.time, &progress);
  }
  threads_.clear();  // joins them
  check_failures();
  return result(start);
}

/// Waits until each worker has made its next report. Tells them to stop when the time is over, and
/// abandons what does not come back within kGrace of that, whatever made them stop.
void BenchWorkforce::finish_round(Clock::time_point end, BenchProgress* progress) {
  const auto start = Clock::now();
  auto next = start + kProgressInterval;
  auto last = Clock::time_point::max();
  while (!wait_for_reports(std::min(next, signals_.stopped() ? last : end))) {
    const auto now = Clock::now();
    if (now >= end) signals_.stop();
    if (now >= last) signals_.abandon();
    if (signals_.stopped()) last = std::min(last, now + kGrace);
    if (signals_.abandoned()) last = Clock::time_point::max();
    if (now < next) continue;
    if (progress != nullptr) progress->draw(now - start, operations());
    next += kProgressInterval;
  }
}

/// Waits until each worker has made its next report.
/// @return false when the time came first, or a signal.
bool BenchWorkforce::wait_for_reports(Clock::time_point until) {
  while (reports_ < workers_.size()) {
    std::array<pollfd, 2> waiting{{{signals_.fd(), POLLIN, 0}, {termination_.fd(), POLLIN, 0}}};
    ::poll(waiting.data(), waiting.size(), poll_timeout(until));
    reports_ += signals_.take_reports();
    const bool is_interrupted = (waiting[1].revents & POLLIN) != 0;
    if (is_interrupted) interrupt();
    if (reports_ < workers_.size() && (is_interrupted || Clock::now() >= until)) return false;
  }
  reports_ -= workers_.size();
  return true;
}

void BenchWorkforce::interrupt() noexcept {
  termination_.take();
  interrupted_ = !signals_.stopped();
  signals_.stop();
}

std::uint64_t BenchWorkforce::operations() const noexcept {
  std::uint64_t total = 0;
  for (const auto& worker : workers_) total += worker->operations();
  return total;
}

void BenchWorkforce::check_failures() const {
  for (const auto& worker : workers_) {
    if (!worker->failure()) continue;
    const BenchWorker::Failure& failure = *worker->failure();
    const char* name = failure.operation == initiator::Operation::read ? "read" : "write";
    throw Error(fmt::format("cannot {} {} bytes at offset {} of {}: {}", name, failure.length,
                            failure.offset, options_.uri.text(), errno_text(failure.error)));
  }
}

BenchResult BenchWorkforce::result(Clock::time_point start) const {
  BenchResult result;
  for (const auto& worker : workers_) {
    result.reads.merge(worker->reads());
    result.writes.merge(worker->writes());
    result.elapsed = std::max<std::chrono::nanoseconds>(result.elapsed, worker->end() - start);
  }
  for (const auto& worker : workers_) result.unfinished += worker->unfinished();
  result.interrupted = interrupted_;
  return result;
}

}  // namespace rdmablk::cli
