#include "common/captive/offspring.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "common/file_text.h"
#include "common/units.h"

namespace rdmablk {
namespace {

using Clock = std::chrono::steady_clock;

/// How often it is looked for children that have come: nothing tells of them.
constexpr std::chrono::milliseconds kPause{10};

constexpr std::uint64_t kMostPid = 1U << 30U;

/// The parent of a process; 0 when it is gone. See proc(5): what stands before may hold anything.
pid_t parent_of(const std::filesystem::path& process) {
  const auto text = read_file_text(process / "stat");
  if (!text) return 0;
  const auto name_end = text->rfind(") ");
  if (name_end == std::string::npos) return 0;
  pid_t parent = 0;
  // ") S PARENT": the list of children that the kernel may have beside it is not on all kernels.
  std::istringstream(text->substr(name_end + 4)) >> parent;
  return parent;
}

std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto number = parse_number(entry->path().filename().string(), kMostPid);
    if (!number || parent_of(entry->path()) != ::getpid()) continue;
    found.insert(static_cast<pid_t>(*number));
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
