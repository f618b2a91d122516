#include "common/softverbs/verbs/local_socket.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>

namespace softverbs {
namespace {

constexpr int kSendBuffer = 1 << 20;

}  // namespace

BlockAddress::BlockAddress(uint32_t block) {
  address.sun_family = AF_UNIX;
  const int written =
      std::snprintf(&address.sun_path[1], sizeof address.sun_path - 1, "softverbs/qp/%03x", block);
  length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(written));
}

FileDescriptor make_local_socket(int flags) {
  FileDescriptor socket_fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket_fd) {
    throw std::system_error(errno, std::generic_category(), "creating a socket of softverbs");
  }
  setsockopt(socket_fd.get(), SOL_SOCKET, SO_SNDBUF, &kSendBuffer, sizeof kSendBuffer);
  return socket_fd;
}

}  // namespace softverbs
