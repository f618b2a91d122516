#include "tests/faults/checker_run.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <thread>

#include "common/error.h"
#include "initiator/cli/session_watch.h"

namespace rdmablk::faults {
namespace {

constexpr std::chrono::milliseconds kRetryEvery{50};

/// Waits for the one request of a queue.
void run_alone(initiator::Queue& queue, initiator::Request& request) {
  queue.submit(request);
  queue.kick();
  std::array<initiator::Request*, 1> ended{};
  while (queue.poll(ended) == 0) {
    queue.arm();
    if (queue.poll(ended) != 0) break;
    pollfd waiting{queue.fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
}

}  // namespace

CheckerRun::CheckerRun(const SharedHistory& history, CheckerOptions options)
    : history_(history), options_(std::move(options)) {
  for (unsigned i = 0; i < options_.threads; ++i) {
    Lane* lane = history_.claim();
    // Those of writers that were killed come free when the verifier has noticed.
    const auto patience = Clock::now() + options_.give_up;
    while (lane == nullptr && !history_.stopped() && Clock::now() < patience) {
      std::this_thread::sleep_for(kRetryEvery);
      lane = history_.claim();
    }
    if (lane == nullptr && history_.stopped()) return;  // the verifier has seen enough
    if (lane == nullptr) {
      throw Error(fmt::format("the history has no free lane for {} threads", options_.threads));
    }
    if (first_lane_ == nullptr) first_lane_ = lane;
    workers_.push_back(std::make_unique<CheckerWorker>(history_, *lane, options_, progress_));
  }
}

CheckerRun::Attached CheckerRun::attach(unsigned queues, unsigned depth) const {
  Attached attached;
  initiator::SessionOptions session;
  session.recovery = options_.recovery;
  attached.session = initiator::Session::connect(options_.uri.target, session);
  initiator::AttachOptions attach;
  attach.queues = queues;
  attach.depth = depth;
  attach.take_over = options_.take_over;
  attached.image = attached.session->attach(options_.uri.export_name, attach);
  const Shape& shape = history_.shape();
  if (shape.offset + shape.words() * sizeof(Tag) > attached.image->info().size) {
    throw Error(fmt::format("{} is too small for {} words at offset {}", options_.uri.text(),
                            shape.words(), shape.offset));
  }
  return attached;
}

void CheckerRun::clear() {
  const Attached attached = attach(1, 1);
  const auto queue = attached.image->make_queue(1);
  const cli::SessionWatch watch(*attached.session);
  initiator::Request request;
  request.operation = initiator::Operation::zero;
  request.offset = history_.shape().offset;
  request.length = history_.shape().words() * sizeof(Tag);
  run_alone(*queue, request);
  if (request.error != 0) {
    throw Error(fmt::format("cannot clear {}: {}", options_.uri.text(), errno_text(request.error)));
  }
}

void CheckerRun::run() {
  auto last_attached = Clock::now();
  while (!ended()) {
    try {
      work_in_one_session();
      last_attached = Clock::now();
    } catch (const Error& error) {
      if (Clock::now() - last_attached >= options_.give_up) throw;
      std::this_thread::sleep_for(kRetryEvery);
    }
  }
}

void CheckerRun::work_in_one_session() {
  /// Queues and buffers go before their image does.
  struct Detach {
    std::vector<std::unique_ptr<CheckerWorker>>& workers;
    ~Detach() {
      for (const auto& worker : workers) worker->detach();
    }
  };
  const Time attaching = now();
  Attached attached = attach(options_.threads, options_.depth);
  const Detach detach{workers_};
  for (const auto& worker : workers_) worker->attach(*attached.image, attaching);
  progress_.renew = false;
  {
    const cli::SessionWatch watch(*attached.session);
    std::vector<std::jthread> threads;
    for (const auto& worker : workers_) threads.emplace_back([raw = worker.get()] { raw->run(); });
  }
  first_lane_->reconnects += attached.session->state().reconnects;
  if (options_.abandon) abandoned_.push_back(std::move(attached));
}

}  // namespace rdmablk::faults
