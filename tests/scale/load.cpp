#include "tests/scale/load.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "common/error.h"

namespace rdmablk::scale {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceMs = 60000;

class Load {
 public:
  Load(Fleet& fleet, std::size_t sessions)
      : fleet_(fleet), sessions_(sessions), under_way_(sessions) {}

  /// Gives the next session a request. @return false when it has no room for one.
  bool submit() {
    const std::size_t number = next_;
    next_ = (next_ + 1) % sessions_;
    if (!fleet_.at(number).submit_read()) return false;
    if (under_way_[number]++ == 0) busy_.push_back(number);
    return true;
  }

  void kick() {
    for (const std::size_t number : busy_) fleet_.at(number).queue().kick();
  }

  /// Takes what has ended, and sleeps until something has. @return how many.
  std::size_t wait() {
    while (true) {
      std::size_t done = take();
      if (done > 0) return done;
      for (const std::size_t number : busy_) fleet_.at(number).queue().arm();
      done = take();
      if (done > 0) return done;
      sleep();
    }
  }

 private:
  std::size_t take() {
    std::size_t done = 0;
    std::erase_if(busy_, [&](std::size_t number) {
      const std::size_t taken = fleet_.at(number).take_done();
      done += taken;
      under_way_[number] -= taken;
      return under_way_[number] == 0;
    });
    return done;
  }

  void sleep() {
    polled_.clear();
    for (const std::size_t number : busy_) {
      polled_.push_back({fleet_.at(number).queue().fd(), POLLIN, 0});
    }
    if (::poll(polled_.data(), polled_.size(), kPatienceMs) < 1) {
      throw Error("a request did not end");
    }
  }

  Fleet& fleet_;
  std::size_t sessions_;
  std::vector<std::size_t> under_way_;  ///< of each session
  std::vector<std::size_t> busy_;       ///< sessions with something under way
  std::vector<pollfd> polled_;
  std::size_t next_ = 0;
};

}  // namespace

Duration run_load(Fleet& fleet, std::size_t sessions, std::uint64_t requests, unsigned in_flight) {
  Load load(fleet, sessions);
  const auto start = Clock::now();
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;
  while (done < requests) {
    while (submitted < requests && submitted - done < in_flight && load.submit()) ++submitted;
    load.kick();
    done += load.wait();
  }
  return Clock::now() - start;
}

}  // namespace rdmablk::scale
