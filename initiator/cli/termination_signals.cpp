#include "initiator/cli/termination_signals.h"

#include <sys/signalfd.h>

#include "common/error.h"

namespace rdmablk::cli {

TerminationSignals::TerminationSignals() {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGINT);
  sigaddset(&wanted, SIGTERM);
  fd_.reset(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw SystemError("make a signalfd", errno);
  pthread_sigmask(SIG_BLOCK, &wanted, &before_);
}

TerminationSignals::~TerminationSignals() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void TerminationSignals::take() noexcept {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace rdmablk::cli
