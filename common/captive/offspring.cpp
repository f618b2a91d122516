#include "common/captive/offspring.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

namespace rdmablk {
namespace {

using Clock = std::chrono::steady_clock;

/// How often it is looked for children that have come: nothing tells of them.
constexpr std::chrono::milliseconds kPause{10};

/// Those of all threads, which proc(5) lists apart.
std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;) found.insert(child);
  }
  return found;
}

/// @return whether none is left.
bool reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

/// Sends each child a signal, once. @return whether none is left.
bool end_with(int number) {
  const auto end = Clock::now() + kOffspringPatience;
  std::set<pid_t> told;
  while (!reap()) {
    for (const pid_t child : children()) {
      if (!told.insert(child).second) continue;
      ::kill(child, number);
      ::kill(child, SIGCONT);  // what is stopped would not hear it
    }
    if (Clock::now() > end) return false;
    const timespec pause{0, std::chrono::nanoseconds(kPause).count()};
    sigset_t ended;
    ::sigemptyset(&ended);
    ::sigaddset(&ended, SIGCHLD);
    ::sigtimedwait(&ended, nullptr, &pause);
  }
  return true;
}

}  // namespace

void end_offspring() noexcept {
  try {
    if (!end_with(SIGTERM)) end_with(SIGKILL);
  } catch (const std::exception&) {
    // without memory for the list, PR_SET_PDEATHSIG is what is left
  }
}

}  // namespace rdmablk
