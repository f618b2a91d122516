#include "initiator/cli/mount_probe.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = MountAnswer::Kind;
using mount_control::Change;

// It goes through a pipe in one piece.
static_assert(sizeof(MountAnswer) <= 4096);

Kind kind_of(int error) {
  switch (error) {
    case ENOTCONN:
    case ECONNABORTED:
      return Kind::dead;
    case EACCES:
    case EPERM:
      return Kind::not_permitted;
    case ENOTTY:
      return Kind::other_version;
    default:
      return Kind::failed;
  }
}

MountAnswer failure(int error) {
  MountAnswer answer;
  answer.kind = kind_of(error);
  answer.error = error;
  return answer;
}

/// May hang.
MountAnswer ask(const char* path, const std::optional<Change>& change) {
  const UniqueFd file(::open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return failure(errno);
  MountAnswer answer;
  answer.kind = Kind::answered;
  if (::ioctl(file.get(), mount_control::kGetStatus, &answer.status) != 0 ||
      ::ioctl(file.get(), mount_control::kGetActivity, &answer.activity) != 0) {
    return failure(errno);
  }
  if (change) {
    Change copy = *change;
    if (::ioctl(file.get(), mount_control::kSetTimes, &copy) != 0) return failure(errno);
  }
  if (::ioctl(file.get(), mount_control::kGetUse, &answer.use) != 0) answer.use = {};
  if (::ioctl(file.get(), mount_control::kGetPaths, &answer.paths) != 0) answer.paths = {};
  return answer;
}

/// A process that asks one mount.
class Probe {
 public:
  Probe(const MountEntry& mount, const std::optional<Change>& change) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw SystemError("make a pipe", errno);
    answer_.reset(ends[0]);
    const UniqueFd input(ends[1]);
    child_ = ::fork();
    if (child_ < 0) throw SystemError("make a process", errno);
    if (child_ == 0) run(mount.path.c_str(), change, input.get());
  }

  /// The process ends, if it can.
  ~Probe() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, WNOHANG);
  }
  Probe(Probe&& other) noexcept
      : child_(std::exchange(other.child_, -1)), answer_(std::move(other.answer_)) {}
  Probe& operator=(Probe&&) = delete;

  int fd() const noexcept { return answer_.get(); }

  /// What came; readable.
  MountAnswer take() {
    MountAnswer answer;
    const bool complete =
        ::read(answer_.get(), &answer, sizeof answer) == static_cast<ssize_t>(sizeof answer);
    ::waitpid(child_, nullptr, 0);
    child_ = -1;
    if (!complete) return failure(EIO);
    // They come from another program, and are shown as texts.
    std::end(answer.status.reason)[-1] = '\0';
    std::end(answer.status.last_error)[-1] = '\0';
    std::end(answer.activity.uri)[-1] = '\0';
    for (auto& path : answer.paths.paths) {
      std::end(path.address)[-1] = '\0';
      std::end(path.device)[-1] = '\0';
      std::end(path.last_error)[-1] = '\0';
    }
    if (answer.paths.count > mount_control::Paths::kMost) answer.paths.count = 0;
    return answer;
  }

 private:
  /// One that is stuck must not keep what others wait for the end of: this program's output.
  [[noreturn]] static void run(const char* path, const std::optional<Change>& change, int output) {
    const auto last = static_cast<unsigned>(output);
    if (last > 0) ::close_range(0, last - 1, 0);
    ::close_range(last + 1, ~0U, 0);
    const MountAnswer answer = ask(path, change);
    ::_exit(::write(output, &answer, sizeof answer) == sizeof answer ? 0 : 1);
  }

  pid_t child_ = -1;
  UniqueFd answer_;
};

}  // namespace

std::vector<MountAnswer> probe_mounts(std::span<const MountEntry> mounts,
                                      std::chrono::milliseconds time,
                                      const std::optional<Change>& change) {
  std::vector<MountAnswer> answers(mounts.size());
  std::vector<Probe> probes;
  std::vector<pollfd> sources;
  for (const MountEntry& mount : mounts) {
    probes.emplace_back(mount, change);
    sources.push_back({probes.back().fd(), POLLIN, 0});
  }
  const auto end = Clock::now() + time;
  for (std::size_t left = mounts.size(); left > 0;) {
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready =
        ::poll(sources.data(), sources.size(), static_cast<int>(std::max<std::int64_t>(rest, 0)));
    if (ready == 0) break;
    if (ready < 0 && errno != EINTR) throw SystemError("wait for the mounts", errno);
    for (std::size_t i = 0; ready > 0 && i < sources.size(); ++i) {
      if (sources[i].revents == 0) continue;
      answers[i] = probes[i].take();
      sources[i].fd = -1;  // poll(2) leaves it out
      sources[i].revents = 0;
      --left;
    }
  }
  return answers;
}

}  // namespace rdmablk::cli
