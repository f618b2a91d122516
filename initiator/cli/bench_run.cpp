#include "initiator/cli/bench_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "common/error.h"
#include "common/units.h"
#include "initiator/cli/bench_worker.h"
#include "initiator/cli/termination_signals.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"

namespace rdmablk::cli {
namespace {

using Clock = BenchWorker::Clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kProgressInterval{1};

/// Draws how it goes, over and over on the same line of a terminal; nothing on anything else.
class Progress {
 public:
  explicit Progress(const BenchOptions& options)
      : options_(options), shown_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (drawn_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param total requests that have ended since the beginning.
  void draw(std::chrono::duration<double> elapsed, std::uint64_t total) {
    if (!shown_) return;
    const double seconds = std::max((elapsed - last_elapsed_).count(), 1e-3);
    const double iops = static_cast<double>(total - last_total_) / seconds;
    const double mib = iops * static_cast<double>(options_.block_size) / (1U << 20U);
    const std::chrono::duration<double> time = options_.time;
    fmt::print(stderr, "\r\033[K{:.0f}/{:.0f} s  {:.0f} IOPS  {:.1f} MiB/s", elapsed.count(),
               time.count(), iops, mib);
    std::fflush(stderr);
    drawn_ = true;
    last_elapsed_ = elapsed;
    last_total_ = total;
  }

 private:
  const BenchOptions& options_;
  bool shown_;
  bool drawn_ = false;
  std::chrono::duration<double> last_elapsed_{};
  std::uint64_t last_total_ = 0;
};

/// The workers of a benchmark and their threads.
class Workforce {
 public:
  Workforce(initiator::Image& image, const BenchOptions& options, const BenchRange& range)
      : options_(options) {
    for (unsigned queue = 0; queue < options.queues; ++queue) {
      workers_.push_back(std::make_unique<BenchWorker>(image, options, range, queue, signals_));
    }
  }

  ~Workforce() {
    signals_.stop();
    signals_.begin();
  }
  Workforce(const Workforce&) = delete;
  Workforce& operator=(const Workforce&) = delete;

  /// Runs the workers until the time is over, one fails, or a signal comes.
  BenchResult run() {
    start_threads();
    wait_for_reports(Clock::time_point::max());
    const auto start = Clock::now();
    signals_.begin();
    Progress progress(options_);
    auto next = start + kProgressInterval;
    const auto end = start + options_.time;
    while (!wait_for_reports(signals_.stopped() ? Clock::time_point::max() : std::min(next, end))) {
      const auto now = Clock::now();
      if (now >= end) signals_.stop();
      if (now < next) continue;
      progress.draw(now - start, operations());
      next += kProgressInterval;
    }
    threads_.clear();  // joins them
    check_failures();
    return result(start);
  }

 private:
  void start_threads() {
    for (const auto& worker : workers_) {
      threads_.emplace_back([raw = worker.get()] { raw->run(); });
    }
  }

  /// Waits until each worker has made its next report.
  /// @return false when the time, or a signal, came first.
  bool wait_for_reports(Clock::time_point until) {
    while (reports_ < workers_.size()) {
      std::array<pollfd, 2> waiting{{{signals_.fd(), POLLIN, 0}, {termination_.fd(), POLLIN, 0}}};
      ::poll(waiting.data(), waiting.size(), timeout(until));
      reports_ += signals_.take_reports();
      if ((waiting[1].revents & POLLIN) != 0) interrupt();
      if (reports_ < workers_.size() && Clock::now() >= until) return false;
    }
    reports_ -= workers_.size();
    return true;
  }

  /// In milliseconds, rounded up, as poll(2) takes it.
  static int timeout(Clock::time_point until) {
    if (until == Clock::time_point::max()) return -1;
    const auto rest = std::chrono::ceil<milliseconds>(until - Clock::now());
    return static_cast<int>(std::max<milliseconds::rep>(rest.count(), 0));
  }

  void interrupt() {
    termination_.take();
    interrupted_ = !signals_.stopped();
    signals_.stop();
  }

  std::uint64_t operations() const {
    std::uint64_t total = 0;
    for (const auto& worker : workers_) total += worker->operations();
    return total;
  }

  void check_failures() const {
    for (const auto& worker : workers_) {
      if (!worker->failure()) continue;
      const BenchWorker::Failure& failure = *worker->failure();
      const char* name = failure.operation == initiator::Operation::read ? "read" : "write";
      throw Error(fmt::format("cannot {} {} bytes at offset {} of {}: {}", name, failure.length,
                              failure.offset, options_.uri.text(), errno_text(failure.error)));
    }
  }

  BenchResult result(Clock::time_point start) const {
    BenchResult result;
    for (const auto& worker : workers_) {
      result.reads.merge(worker->reads());
      result.writes.merge(worker->writes());
      result.elapsed = std::max<std::chrono::nanoseconds>(result.elapsed, worker->end() - start);
    }
    result.interrupted = interrupted_;
    return result;
  }

  const BenchOptions& options_;
  TerminationSignals termination_;
  BenchSignals signals_;
  std::vector<std::unique_ptr<BenchWorker>> workers_;
  std::uint64_t reports_ = 0;
  bool interrupted_ = false;
  std::vector<std::jthread> threads_;  // end before all that they use
};

std::unique_ptr<initiator::RemoteImage> attach(initiator::Session& session,
                                               const BenchOptions& options) {
  initiator::AttachOptions attach;
  attach.access =
      has_writes(options.workload) ? protocol::Access::read_write : protocol::Access::read_only;
  attach.queues = options.queues;
  attach.depth = options.depth;
  return session.attach(options.uri.export_name, attach);
}

/// Watches a session's connections while it lives.
class Watching {
 public:
  explicit Watching(initiator::Session& session) : session_(session) { session_.start(); }
  ~Watching() { session_.stop(); }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  initiator::Session& session_;
};

}  // namespace

BenchResult run_bench(const BenchOptions& options) {
  const auto session = initiator::Session::connect(options.uri.target);
  const auto image = attach(*session, options);
  const BenchRange range = bench_range(options, image->info().size);
  Workforce workforce(*image, options, range);
  const Watching watching(*session);
  return workforce.run();
}

}  // namespace rdmablk::cli
