#include "common/captive/keeper.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <vector>

#include "common/captive/offspring.h"
#include "common/error.h"
#include "common/log.h"

namespace rdmablk {
namespace {

constexpr int kCannotRun = 127;  // as shells have it

/// What a terminal sends to everybody: the command gets it without the keeper's help.
constexpr std::array kFromTerminal{SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};

/// How a service manager is spoken to; that is the program's business.
constexpr std::array kOfServiceManager{"NOTIFY_SOCKET",  "LISTEN_FDS",    "LISTEN_PID",
                                       "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID",
                                       "FDSTORE"};

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// What signals did when the program was started, which is for the command to have, too: who runs
/// it in the background, or by nohup(1), has some ignored.
class SignalState {
 public:
  /// Has those of the terminal ignored, and others blocked.
  explicit SignalState(const sigset_t& blocked) {
    for (std::size_t i = 0; i < kFromTerminal.size(); ++i) {
      struct sigaction ignored {};
      ignored.sa_handler = SIG_IGN;
      ::sigaction(kFromTerminal[i], &ignored, &actions_[i]);
    }
    ::sigprocmask(SIG_BLOCK, &blocked, &mask_);
  }

  void restore() const {
    for (std::size_t i = 0; i < kFromTerminal.size(); ++i) {
      ::sigaction(kFromTerminal[i], &actions_[i], nullptr);
    }
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
  }

 private:
  std::array<struct sigaction, kFromTerminal.size()> actions_{};
  sigset_t mask_{};
};

/// Between fork and exec: the command's own process.
[[noreturn]] void become(const std::string& command, std::string_view variables, pid_t parent,
                         const SignalState& before) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotRun);  // it died before
  before.restore();
  for (const char* const name : kOfServiceManager) ::unsetenv(name);
  while (!variables.empty()) {
    const auto end = variables.find('\0');
    const std::string variable(variables.substr(0, end));
    const auto equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    variables.remove_prefix(end + 1);
  }
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), static_cast<char*>(nullptr));
  print_error("--run", "cannot start /bin/sh: " + errno_text(errno));
  ::_exit(kCannotRun);
}

class Keeper {
 public:
  Keeper(const std::string& command, UniqueFd socket)
      : command_(command), socket_(std::move(socket)) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    const sigset_t set = passed_on();
    signals_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) throw SystemError("make a signalfd", errno);
  }

  /// @return whether the program was still there at the end, to whose orders it listens.
  bool run() {
    while (!over_) {
      std::array<pollfd, 2> sources{{{signals_.get(), POLLIN, 0}, {socket_.get(), POLLIN, 0}}};
      if (::poll(sources.data(), sources.size(), -1) < 0 && errno != EINTR) break;
      if (sources[0].revents != 0) take_signals();
      if (sources[1].revents != 0) take_order();
    }
    end_offspring();
    return ::send(socket_.get(), &status_, sizeof status_, MSG_NOSIGNAL) >= 0 && !abandoned_;
  }

 private:
  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) pass(static_cast<int>(info.ssi_signo));
    }
    int wait_status = 0;
    pid_t ended = 0;
    while ((ended = ::waitpid(-1, &wait_status, WNOHANG)) > 0) {
      if (ended != child_) continue;
      status_ = status_of(wait_status);
      over_ = true;
    }
  }

  void pass(int number) const {
    if (child_ > 0) ::kill(child_, number);
  }

  void take_order() {
    const ssize_t size = ::recv(socket_.get(), packet_.data(), packet_.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    KeeperOrder order{};
    if (size < static_cast<ssize_t>(sizeof order)) {
      abandoned_ = over_ = true;
      return;
    }
    std::memcpy(&order, packet_.data(), sizeof order);
    const std::string_view rest(packet_.data() + sizeof order,
                                static_cast<std::size_t>(size) - sizeof order);
    if (order.kind == KeeperOrder::Kind::start) start(rest);
    if (order.kind == KeeperOrder::Kind::signal) pass(order.number);
    if (order.kind == KeeperOrder::Kind::end) over_ = true;
  }

  void start(std::string_view variables) {
    const pid_t self = ::getpid();
    child_ = ::fork();
    if (child_ == 0) become(command_, variables, self, before_);
    if (child_ < 0) {
      print_error("--run", "cannot start the command: " + errno_text(errno));
      over_ = true;
    }
  }

  /// And SIGCHLD.
  static sigset_t passed_on() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : {SIGCHLD, SIGTERM, SIGHUP}) ::sigaddset(&set, number);
    return set;
  }

  const std::string& command_;
  SignalState before_{passed_on()};
  UniqueFd socket_;
  UniqueFd signals_;
  std::vector<char> packet_ = std::vector<char>(kMaxKeeperPacket);
  pid_t child_ = -1;
  int status_ = kExitFailed;  ///< of the command, or that it has none
  bool over_ = false;         ///< nothing more is to run
  bool abandoned_ = false;    ///< the program is gone
};

/// What the program has open is its own, and what it hears of its end by.
void close_all_but(int kept) {
  if (kept > STDERR_FILENO + 1) {
    ::close_range(STDERR_FILENO + 1, static_cast<unsigned>(kept) - 1, 0);
  }
  ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

}  // namespace

int keep(const std::string& command, UniqueFd socket,
         const std::function<void()>& orphaned) noexcept {
  try {
    ::prctl(PR_SET_NAME, "rdmablk-keeper");
    close_all_but(socket.get());
    Keeper keeper(command, std::move(socket));
    if (!keeper.run() && orphaned) orphaned();
    return kExitDone;
  } catch (const std::exception& error) {
    print_error("--run", error.what());
    return kExitFailed;
  }
}

}  // namespace rdmablk
