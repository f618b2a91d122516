// A service manager in miniature: keeps the descriptors of a service that hands them over, and
// starts it again when it dies.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <optional>
#include <vector>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "common/unique_fd.h"
#include "fd_store.h"

namespace rdmablk::faults {
namespace {

constexpr const char* kProgram = "rdmablk-fd-keeper";

struct Options {
  std::size_t most = 64;
  std::vector<std::string> command;
};

/// The socket that a service speaks to.
class NotifySocket {
 public:
  NotifySocket() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    name_ = "@" + std::string(kProgram) + "-" + std::to_string(::getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name_.copy(address.sun_path, name_.size());
    address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size());
    if (!fd_ || ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0) {
      throw SystemError("make a socket for the service", errno);
    }
  }

  int fd() const noexcept { return fd_.get(); }
  const std::string& name() const noexcept { return name_; }

  /// Receives one message. @return whether there was one, without waiting.
  bool receive(std::string& message, std::vector<UniqueFd>& descriptors) const {
    std::array<char, 4096> text{};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(256 * sizeof(int))> control{};
    iovec part{text.data(), text.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return false;
    message.assign(text.data(), static_cast<std::size_t>(got));
    for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
      if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
      for (std::size_t at = 0; at + CMSG_LEN(0) < one->cmsg_len; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(one) + at, sizeof fd);
        descriptors.emplace_back(fd);
      }
    }
    return true;
  }

 private:
  UniqueFd fd_;
  std::string name_;
};

class Keeper {
 public:
  explicit Keeper(const Options& options) : options_(options), store_(options.most) {
    ::sigemptyset(&signals_);
    for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) {
      ::sigaddset(&signals_, signal);
    }
    ::sigprocmask(SIG_BLOCK, &signals_, &before_);
    signal_fd_.reset(::signalfd(-1, &signals_, SFD_CLOEXEC));
    if (!signal_fd_) throw SystemError("make a descriptor for signals", errno);
  }

  /// @return the exit status of the service's last run.
  int run() {
    start();
    while (!status_) {
      std::array<pollfd, 2> watched{{{socket_.fd(), POLLIN, 0}, {signal_fd_.get(), POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
        throw SystemError("wait", errno);
      }
      // What a service has said before it ended counts.
      receive();
      if ((watched[1].revents & POLLIN) != 0) take_signal();
    }
    return *status_;
  }

 private:
  void start() {
    ready_ = false;
    pid_ = ::fork();
    if (pid_ < 0) throw SystemError("fork", errno);
    if (pid_ == 0) become_service();
    say("started");
  }

  [[noreturn]] void become_service() const {
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
    ::setenv("NOTIFY_SOCKET", socket_.name().c_str(), 1);
    store_.pass_on();
    std::vector<char*> argv;
    for (const std::string& word : options_.command) {
      argv.push_back(const_cast<char*>(word.c_str()));
    }
    argv.push_back(nullptr);
    ::execvp(argv.front(), argv.data());
    print_error(kProgram, options_.command.front() + ": " + errno_text(errno));
    ::_exit(127);
  }

  void receive() {
    std::string message;
    std::vector<UniqueFd> descriptors;
    while (socket_.receive(message, descriptors)) {
      if (store_.take(message, std::move(descriptors)) && !ready_) {
        ready_ = true;
        say("ready");
      }
      descriptors.clear();
    }
  }

  void take_signal() {
    signalfd_siginfo info{};
    if (::read(signal_fd_.get(), &info, sizeof info) != sizeof info) return;
    switch (info.ssi_signo) {
      case SIGCHLD:
        return reap();
      case SIGUSR1:
      case SIGUSR2:
        restarting_ = true;
        ::kill(pid_, info.ssi_signo == SIGUSR1 ? SIGTERM : SIGKILL);
        return;
      default:
        stopping_ = true;
        ::kill(pid_, SIGTERM);
    }
  }

  void reap() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return;
    receive();
    say("ended");
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    const bool again = restarting_ || (ready_ && code != 0);
    restarting_ = false;
    if (stopping_ || !again) {
      status_ = code;
      return;
    }
    start();
  }

  void say(const char* what) const {
    std::cout << what << ' ' << pid_ << " stored " << store_.size() << std::endl;
  }

  const Options& options_;
  NotifySocket socket_;
  FdStore store_;
  sigset_t signals_{};
  sigset_t before_{};
  UniqueFd signal_fd_;
  pid_t pid_ = -1;
  bool ready_ = false;
  bool restarting_ = false;
  bool stopping_ = false;
  std::optional<int> status_;
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Runs a service as a service manager does: keeps descriptors that it hands over with "
      "FDSTORE=1, and passes them to the next process when it dies, or when SIGUSR1 (by SIGTERM) "
      "or "
      "SIGUSR2 (by SIGKILL) asks for that. Ends with the service, when that ends in order, or "
      "before "
      "it was ready; SIGTERM has it end in order. Says what happens on standard output: "
      "'started|ready|ended PID stored N'.",
      kProgram);
  app.add_option("--max", options.most, "Descriptors that are kept; more are closed silently")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("command", options.command, "The service and its arguments")
      ->type_name("COMMAND...")
      ->required();
  app.positionals_at_end();
  app.prefix_command();
  if (!read_arguments(app, argc, argv)) return kExitDone;
  return Keeper(options).run();
}

}  // namespace
}  // namespace rdmablk::faults

int main(int argc, char** argv) {
  return rdmablk::run_program(rdmablk::faults::kProgram, rdmablk::faults::run, argc, argv);
}
