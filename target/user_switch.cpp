#include "target/user_switch.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "common/error.h"
#include "common/log.h"

namespace rdmablk::target {
namespace {

void become(const passwd& user) {
  const bool is_done = ::initgroups(user.pw_name, user.pw_gid) == 0 && ::setgid(user.pw_gid) == 0 &&
                       ::setuid(user.pw_uid) == 0;
  if (!is_done) {
    throw Error(fmt::format("cannot become user '{}': {}; start it as root", user.pw_name,
                            errno_text(errno)));
  }
  ::setenv("HOME", user.pw_dir, 1);
}

/// In the other process.
int run(const passwd& user, const std::function<int()>& what) {
  try {
    become(user);
    return what();
  } catch (const std::exception& error) {
    print_error("rdmablk-target", error.what());
    return kExitFailed;
  }
}

}  // namespace

int run_as_user(const std::string& user, const std::function<int()>& what) {
  errno = 0;
  const passwd* const found = ::getpwnam(user.c_str());
  if (found == nullptr) {
    throw Error(
        fmt::format("there is no user '{}'{}", user, errno == 0 ? "" : ": " + errno_text(errno)));
  }
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw SystemError("make a process", errno);
  if (child == 0) {
    const int status = run(*found, what);
    std::fflush(nullptr);
    ::_exit(status);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kExitFailed;
}

}  // namespace rdmablk::target
