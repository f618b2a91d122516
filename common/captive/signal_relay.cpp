#include "common/captive/signal_relay.h"

#include <poll.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "common/error.h"

namespace rdmablk {
namespace {

sigset_t relayed() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, number);
  return set;
}

}  // namespace

SignalRelay::SignalRelay(CaptiveCommand& command) : command_(command) {
  const sigset_t set = relayed();
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    throw SystemError("block signals", error);
  }
  signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!signals_ || !stop_) throw SystemError("make a descriptor for signals", errno);
}

SignalRelay::~SignalRelay() {
  stop();
}

void SignalRelay::start() {
  thread_ = std::thread([this] { run(); });
}

std::optional<int> SignalRelay::stop() {
  if (!thread_.joinable()) return status_;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
  return status_;
}

void SignalRelay::run() {
  while (true) {
    std::array<pollfd, 3> sources{
        {{stop_.get(), POLLIN, 0}, {command_.fd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) return;
    if (sources[1].revents != 0) break;
    if (sources[0].revents != 0) return;
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      command_.signal(static_cast<int>(info.ssi_signo));
    }
  }
  status_ = command_.status();
  spdlog::info("the command of --run has ended with status {}", *status_);
  // From here on this thread is where the process takes them.
  const sigset_t set = relayed();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(SIGTERM);
  ::pollfd stop{stop_.get(), POLLIN, 0};
  while (::poll(&stop, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace rdmablk
