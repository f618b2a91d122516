#include "target/admin_place.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "target/patience.h"

namespace rdmablk::target {
namespace {

constexpr const char* kName = "target.sock";
constexpr const char* kRemedy = "choose another place with --admin-socket PATH, or 'none'";

/// How long another target may take to find out the same.
constexpr std::chrono::seconds kLockWait{2};

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw Error(fmt::format("cannot listen for administrators at '{}': {}; {}", path, why, kRemedy));
}

/// What stands behind the path while the socket is being made: a dot and the largest pid.
constexpr std::string_view kLongestSuffix = ".4194304";

constexpr std::size_t kMaxPath = sizeof(sockaddr_un::sun_path) - 1 - kLongestSuffix.size();

void check_length(const std::string& path) {
  if (path.size() <= kMaxPath) return;
  fail(path, fmt::format("its path has {} bytes, and {} are the most", path.size(), kMaxPath));
}

/// @param path of no more bytes than a socket's may have.
sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path);
  return address;
}

UniqueFd make_socket(const std::string& path) {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) fail(path, errno_text(errno));
  return socket;
}

/// The process that listens there; nothing when nobody does, and -1 when it cannot be known.
std::optional<pid_t> listener_at(const std::string& path) {
  const sockaddr_un address = address_of(path);
  const UniqueFd socket = make_socket(path);
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), name, sizeof address) != 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) return std::nullopt;
    return -1;  // its queue is full, for one
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : -1;
}

gid_t group_number(const std::string& name) {
  std::array<char, 16384> buffer{};
  group entry{};
  group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  if (found != nullptr) return found->gr_gid;
  throw Error(fmt::format(
      "cannot let the group '{}' use the administration socket: there is no such group; "
      "`groupadd --system {}` makes it",
      name, name));
}

std::string directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

UniqueFd open_directory(const std::string& path) {
  const std::string parent = directory_of(path);
  UniqueFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    fail(path, fmt::format("its directory {} cannot be opened: {}", parent, errno_text(errno)));
  }
  return directory;
}

/// Held while a place is looked at and taken, so that two targets do not do it at once. Of the
/// directory, so nothing is left behind.
UniqueFd lock_directory(const std::string& path) {
  UniqueFd directory = open_directory(path);
  const Patience patience(kLockWait);
  while (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK || !patience.wait()) fail(path, "its directory is locked by another");
  }
  return directory;
}

/// The process that listens at a place, and -1 when it cannot be known; nothing: nobody. Throws
/// Error when the place is that of something else.
std::optional<pid_t> occupant_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    fail(path, errno_text(errno));
  }
  if (!S_ISSOCK(status.st_mode)) fail(path, "something else than a socket is there");
  return listener_at(path);
}

std::string describe_occupant(pid_t occupant) {
  return occupant > 0 ? fmt::format("process {} listens there", occupant)
                      : "another process listens there";
}

[[noreturn]] void fail_to_admit(const std::string& group, int error) {
  throw Error(
      fmt::format("cannot let the group '{}' use the administration socket: {}; the "
                  "target's user has to be one of that group",
                  group, errno_text(error)));
}

/// Whether this process may give a file to a group.
bool may_give_to(gid_t group) {
  if (::geteuid() == 0 || ::getegid() == group) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

std::string default_admin_socket() {
  // The manager may name several, the first of which is the main one.
  if (const char* const given = std::getenv("RUNTIME_DIRECTORY"); given != nullptr && *given != 0) {
    const std::string directories = given;
    return fmt::format("{}/{}", directories.substr(0, directories.find(':')), kName);
  }
  if (::geteuid() != 0) return "";
  constexpr const char* kDirectory = "/run/rdmablk";
  const bool there = ::mkdir(kDirectory, 0755) == 0 || errno == EEXIST;
  return there ? fmt::format("{}/{}", kDirectory, kName) : "";
}

AdminPlace::AdminPlace(std::string path, const std::string& group, std::optional<pid_t> predecessor)
    : path_(std::move(path)) {
  check_length(path_);
  const UniqueFd lock = lock_directory(path_);
  const auto occupant = occupant_of(path_);
  if (occupant && occupant != predecessor) fail(path_, describe_occupant(*occupant));
  // Nobody can connect before it has its mode: it is made under another name, and does not listen.
  const std::string beside = fmt::format("{}.{}", path_, ::getpid());
  try {
    bind_beside(beside, group);
    if (::rename(beside.c_str(), path_.c_str()) != 0) fail(path_, errno_text(errno));
  } catch (const Error& /*error*/) {
    ::unlink(beside.c_str());
    throw;
  }
}

AdminPlace::~AdminPlace() {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return;
  // A successor's is left alone.
  if (status.st_dev == device_ && status.st_ino == inode_) ::unlink(path_.c_str());
}

std::string AdminPlace::probe(const std::string& path, const std::string& group) {
  check_length(path);
  open_directory(path);
  const std::string directory = directory_of(path);
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    fail(path, fmt::format("it cannot be made in {}: {}", directory, errno_text(errno)));
  }
  const auto occupant = occupant_of(path);
  if (!group.empty()) probe_group(group);
  return occupant ? describe_occupant(*occupant) : "";
}

void AdminPlace::probe_group(const std::string& group) {
  if (!may_give_to(group_number(group))) fail_to_admit(group, EPERM);
}

void AdminPlace::bind_beside(const std::string& beside, const std::string& group) {
  constexpr int kBacklog = 16;
  const sockaddr_un address = address_of(beside);
  socket_ = make_socket(path_);
  ::unlink(beside.c_str());  // of a process of this number that died right here
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (::bind(socket_.get(), name, sizeof address) != 0) fail(path_, errno_text(errno));
  mode_t mode = S_IRUSR | S_IWUSR;
  if (!group.empty()) {
    mode |= S_IRGRP | S_IWGRP;
    if (::lchown(beside.c_str(), static_cast<uid_t>(-1), group_number(group)) != 0) {
      fail_to_admit(group, errno);
    }
  }
  struct stat status {};
  if (::chmod(beside.c_str(), mode) != 0 || ::lstat(beside.c_str(), &status) != 0 ||
      ::listen(socket_.get(), kBacklog) != 0) {
    fail(path_, errno_text(errno));
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

}  // namespace rdmablk::target
