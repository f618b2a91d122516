#include "fuse/termination_signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "common/error.h"

namespace rdmablk::fuse {

TerminationSignals::TerminationSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&set, number);
  const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  if (error != 0) throw SystemError("block signals", error);
  std::signal(SIGPIPE, SIG_IGN);
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw SystemError("make a signalfd", errno);
}

int TerminationSignals::wait(int other) const {
  return wait(other, -1);
}

int TerminationSignals::wait(int other, int another) const {
  std::array<pollfd, 3> sources{{{fd_.get(), POLLIN, 0}, {other, POLLIN, 0}, {another, POLLIN, 0}}};
  while (true) {
    const int count = ::poll(sources.data(), sources.size(), -1);
    if (count < 0 && errno != EINTR) throw SystemError("wait for signals", errno);
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) == sizeof info) {
      return static_cast<int>(info.ssi_signo);
    }
    if (count > 0 && (sources[1].revents | sources[2].revents) != 0) return 0;
  }
}

}  // namespace rdmablk::fuse
