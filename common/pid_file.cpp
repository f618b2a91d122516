#include "common/pid_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/file_replacement.h"
#include "common/units.h"

namespace rdmablk {
namespace {

constexpr mode_t kMode = 0644;
constexpr std::uint64_t kMostPid = 1U << 30U;

std::string read_some(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  std::string_view words(text.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  return std::string(words.substr(0, words.find('\n')));
}

bool is_at(const std::string& path, int fd) {
  struct stat ours {};
  struct stat named {};
  return ::fstat(fd, &ours) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/// What stands in a file that a living process has locked.
std::optional<std::string> holder_of(const std::string& path) {
  const UniqueFd fd(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  if (!fd && errno == ENOENT) return std::nullopt;
  if (!fd) throw SystemError(fmt::format("read the pidfile {}", path), errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    throw Error(fmt::format("cannot use {} as pidfile: it is no regular file", path));
  }
  const std::string number = read_some(fd.get());
  if (!number.empty() && !parse_number(number, kMostPid)) {
    throw Error(fmt::format("cannot use {} as pidfile: it holds something else", path));
  }
  if (::flock(fd.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return number;
}

}  // namespace

PidFile::PidFile(std::string path, std::optional<pid_t> replaced)
    : path_(std::move(path)), replaced_(replaced) {
  refuse_if_held();
}

PidFile::~PidFile() {
  if (fd_ && is_at(path_, fd_.get())) ::unlink(path_.c_str());
}

std::string PidFile::probe(const std::string& path) {
  const auto parent = std::filesystem::absolute(path).parent_path();
  if (::faccessat(AT_FDCWD, parent.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    throw SystemError(fmt::format("write the pidfile {}", path), errno);
  }
  return holder_of(path).value_or("");
}

void PidFile::refuse_if_held() const {
  const auto number = holder_of(path_);
  if (!number || (replaced_ && *number == std::to_string(*replaced_))) return;
  throw Error(
      fmt::format("the pidfile {} is that of process {}, which runs: end it first, or give "
                  "each its own file",
                  path_, *number));
}

void PidFile::write() {
  refuse_if_held();
  try {
    FileReplacement file(AT_FDCWD, path_, fmt::format("{}.{}", path_, ::getpid()), kMode);
    if (::flock(file.fd(), LOCK_EX | LOCK_NB) != 0) throw SystemError("lock it", errno);
    file.write(fmt::format("{}\n", ::getpid()));
    fd_ = file.take_place();
  } catch (const SystemError& error) {
    throw SystemError(fmt::format("write the pidfile {}", path_), error.error());
  }
}

}  // namespace rdmablk
