#include "tests/softverbs/verbs/child_process.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace softverbs::test {

Wire::~Wire() {
  close(fd_);
}

void Wire::send_bytes(const void* data, size_t size) {
  if (::send(fd_, data, size, MSG_NOSIGNAL) != static_cast<ssize_t>(size)) {
    throw std::runtime_error("the other process is gone");
  }
}

void Wire::receive_bytes(void* data, size_t size) {
  if (recv(fd_, data, size, MSG_WAITALL) != static_cast<ssize_t>(size)) {
    throw std::runtime_error("the other process is gone");
  }
}

SocketPair::SocketPair() {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::runtime_error("socketpair failed");
  }
}

ChildProcess::ChildProcess(const std::function<void(Wire&)>& body)
    : ChildProcess(body, SocketPair()) {}

ChildProcess::ChildProcess(const std::function<void(Wire&)>& body, const SocketPair& sockets)
    : wire_(sockets.ends[0]) {
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets.ends[0]);
    try {
      Wire wire(sockets.ends[1]);
      body(wire);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  close(sockets.ends[1]);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) kill();
}

void ChildProcess::signal(int number) {
  ::kill(pid_, number);
  int status = 0;
  if (number == SIGSTOP) waitpid(pid_, &status, WUNTRACED);
}

void ChildProcess::kill() {
  ::kill(pid_, SIGKILL);
  join();
}

int ChildProcess::join() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace softverbs::test
