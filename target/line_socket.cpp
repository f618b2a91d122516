#include "target/line_socket.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rdmablk::target {
namespace {

constexpr std::size_t kMaxDescriptors = 4;

struct ControlBuffer {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> bytes{};
};

void attach(msghdr& message, ControlBuffer& control, const std::vector<int>& descriptors) {
  if (descriptors.empty()) return;
  const std::size_t size = descriptors.size() * sizeof(int);
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(size);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(header), descriptors.data(), size);
}

void collect(msghdr& message, std::vector<UniqueFd>& into) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      into.emplace_back(fd);
    }
  }
}

/// Receives one byte. A stream of bytes keeps descriptors with the first byte that they came with,
/// and what is behind the line stays for the next call.
bool receive_byte(int socket, char& byte, std::vector<UniqueFd>& descriptors) {
  ControlBuffer control;
  iovec part{&byte, 1};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return false;
  collect(message, descriptors);
  return (message.msg_flags & MSG_CTRUNC) == 0;
}

}  // namespace

int send_line(int socket, std::string_view line, const std::vector<int>& descriptors) noexcept {
  std::string text;
  text.append(line).append("\n");
  bool first = true;
  for (std::string_view left = text; !left.empty();) {
    ControlBuffer control;
    iovec part{const_cast<char*>(left.data()), left.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (first) attach(message, control, descriptors);
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno;
    first = false;
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  return 0;
}

std::optional<ReceivedLine> receive_line(int socket, std::size_t limit) {
  ReceivedLine line;
  while (line.text.size() <= limit) {
    char byte = 0;
    if (!receive_byte(socket, byte, line.descriptors)) return std::nullopt;
    if (line.descriptors.size() > kMaxDescriptors) return std::nullopt;
    if (byte == '\n') return line;
    line.text += byte;
  }
  return std::nullopt;
}

}  // namespace rdmablk::target
