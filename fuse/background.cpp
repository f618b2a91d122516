#include "fuse/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/error.h"

namespace rdmablk::fuse {

namespace {

/// The child's answers: this, or 'E' and the text of its error.
constexpr char kReady = 'R';
constexpr char kFailed = 'E';

std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> piece{};
  while (true) {
    const ssize_t size = ::read(fd, piece.data(), piece.size());
    if (size > 0) text.append(piece.data(), static_cast<std::size_t>(size));
    if (size == 0 || (size < 0 && errno != EINTR)) return text;
  }
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

void detach_from_terminal() {
  ::setsid();
  if (::chdir("/") != 0) throw SystemError("change to directory /", errno);
  const UniqueFd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) throw SystemError("open /dev/null", errno);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null.get(), fd);
}

}  // namespace

Background Background::fork() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("make a pipe", errno);
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) throw SystemError("go to the background", errno);
  return child == 0 ? Background(0, std::move(writer)) : Background(child, std::move(reader));
}

void Background::wait_until_ready() {
  const std::string answer = read_all(pipe_.get());
  if (answer.starts_with(kReady)) return;
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.starts_with(kFailed)) throw Error(answer.substr(1));
  throw Error(fmt::format("the process that went to the background {} before the mount worked",
                          how_it_ended(status)));
}

bool Background::ready() {
  detach_from_terminal();
  const bool heard = ::write(pipe_.get(), &kReady, 1) == 1;
  pipe_.reset();
  return heard;
}

void Background::failed(const std::string& text) {
  const std::string answer = kFailed + text;
  if (::write(pipe_.get(), answer.data(), answer.size()) < 0) return;  // nobody listens
  pipe_.reset();
}

}  // namespace rdmablk::fuse
