#include "common/daemon_marker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "common/error.h"

namespace rdmablk {
namespace {

UniqueFd make_socket() {
  return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// The socket's address: abstract, so that no file is left behind.
struct Address {
  explicit Address(const std::string& device) {
    const std::string name = fmt::format("rdmablk-mount/{}", device);
    const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
    address.sun_family = AF_UNIX;
    std::copy_n(name.begin(), length, address.sun_path + 1);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size;
};

/// @return 0 when it is of another pid namespace, or of a user whom nobody here should wait for:
/// anybody may take the name of a socket.
pid_t peer_pid(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return 0;
  const bool is_trusted = credentials.uid == 0 || credentials.uid == ::geteuid();
  return is_trusted ? credentials.pid : 0;
}

/// glibc 2.36 declares its own without C linkage.
UniqueFd open_pidfd(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool is_hung_up(int socket) {
  pollfd state{socket, POLLIN, 0};
  return ::poll(&state, 1, 0) != 0;
}

}  // namespace

DaemonMarker::DaemonMarker(const std::string& device) : socket_(make_socket()) {
  const Address address(device);
  if (!socket_ || ::bind(socket_.get(), address.get(), address.size) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0) {
    throw SystemError(fmt::format("mark this process as the one that serves mount {}", device),
                      errno);
  }
}

std::optional<MountDaemon> MountDaemon::find(const std::string& device) {
  const UniqueFd socket = make_socket();
  const Address address(device);
  if (!socket || ::connect(socket.get(), address.get(), address.size) != 0) return std::nullopt;
  const pid_t pid = peer_pid(socket.get());
  if (pid <= 0) return std::nullopt;
  UniqueFd pidfd = open_pidfd(pid);
  // As long as the socket lives, so does the process, and the number is not another's.
  if (!pidfd || is_hung_up(socket.get())) return std::nullopt;
  return MountDaemon(pid, std::move(pidfd));
}

bool MountDaemon::wait_for_end(std::chrono::milliseconds timeout) const {
  pollfd state{pidfd_.get(), POLLIN, 0};
  return ::poll(&state, 1, static_cast<int>(timeout.count())) == 1;
}

}  // namespace rdmablk
