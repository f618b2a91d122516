#include "initiator/copy/crew.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/error.h"
#include "common/log.h"

namespace rdmablk::copy {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kProgressInterval{250};

}  // namespace

Crew::Crew(std::span<const std::unique_ptr<PieceWorker>> workers, CopyPlan& plan,
           cli::TerminationSignals& termination, Interrupted interrupted)
    : workers_(workers),
      plan_(plan),
      termination_(termination),
      interrupted_text_(std::move(interrupted)),
      ended_event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!ended_event_) throw SystemError("make an eventfd", errno);
}

void Crew::run(Progress& progress) {
  for (const auto& worker : workers_) {
    threads_.emplace_back([this, raw = worker.get()] {
      raw->run();
      ::eventfd_write(ended_event_.get(), 1);
    });
  }
  while (!wait(poll_timeout(progress))) {
    if (Clock::now() >= last_moment_) leave(progress);
    progress.draw(bytes());
  }
  threads_.clear();  // joins them
  if (is_interrupted_) throw Error(interrupted_text_(bytes()));
}

/// @return whether all workers have ended.
bool Crew::wait(int timeout_ms) {
  std::array<pollfd, 2> waiting{
      {{ended_event_.get(), POLLIN, 0}, {is_interrupted_ ? -1 : termination_.fd(), POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), timeout_ms);
  eventfd_t count = 0;
  if (::eventfd_read(ended_event_.get(), &count) == 0) ended_ += count;
  if ((waiting[1].revents & POLLIN) != 0) interrupt();
  return ended_ == workers_.size();
}

void Crew::interrupt() noexcept {
  termination_.take();
  is_interrupted_ = true;
  last_moment_ = Clock::now() + kGrace;
  plan_.stop();
}

/// In milliseconds, as poll(2) takes it.
int Crew::poll_timeout(const Progress& progress) const {
  if (!is_interrupted_) return progress.is_shown() ? int{kProgressInterval.count()} : -1;
  const auto rest = std::chrono::ceil<milliseconds>(last_moment_ - Clock::now());
  return static_cast<int>(std::max<milliseconds::rep>(rest.count(), 0));
}

std::uint64_t Crew::bytes() const noexcept {
  std::uint64_t total = 0;
  for (const auto& worker : workers_) total += worker->bytes();
  return total;
}

void Crew::leave(Progress& progress) const noexcept {
  progress.clear();
  print_error("rdmablk", interrupted_text_(bytes()));
  ::_exit(kExitFailed);
}

}  // namespace rdmablk::copy
