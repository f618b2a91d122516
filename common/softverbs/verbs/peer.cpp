#include "common/softverbs/verbs/peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/local_socket.h"
#include "common/softverbs/verbs/process.h"

namespace softverbs {
namespace {

/// A process that is stopped, or whose service thread is, gets this long to answer a greeting.
constexpr int kGreetingTimeoutMs = 5000;

[[noreturn]] void fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

void wait_for(int fd, short events) {
  pollfd entry{fd, events, 0};
  int result = 0;
  do {
    result = poll(&entry, 1, kGreetingTimeoutMs);
  } while (result < 0 && errno == EINTR);
  if (result == 0) fail(ETIMEDOUT, "the peer process does not answer");
  if (result < 0) fail(errno, "waiting for the peer process");
}

}  // namespace

Peer::Peer(Process& process, uint32_t block) {
  connect(block);
  greet(process);
}

void Peer::connect(uint32_t block) {
  const BlockAddress address(block);
  socket_ = make_local_socket(SOCK_NONBLOCK);
  while (::connect(socket_.get(), address.get(), address.length) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) fail(errno, "connecting to the peer process");
    // Its backlog is full: with a blocking connect the kernel waits for room.
    const timeval timeout{kGreetingTimeoutMs / 1000, 0};
    socket_ = make_local_socket(0);
    setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (::connect(socket_.get(), address.get(), address.length) != 0) {
      fail(errno, "connecting to the peer process");
    }
    break;
  }
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    fail(errno, "asking who the peer process is");
  }
  pid_ = credentials.pid;
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) fail(errno, "watching the peer process");
}

void Peer::greet(Process& process) {
  const Hello hello{kMessageVersion, 0, process.token()};
  if (::send(socket_.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    fail(errno, "greeting the peer process");
  }
  wait_for(socket_.get(), POLLIN);
  Hello answer{};
  iovec data{&answer, sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t received = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
  if (received < 0) fail(errno, "hearing from the peer process");
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  FileDescriptor memfd;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    memfd.reset(fd);
  }
  if (received != sizeof answer || answer.version != kMessageVersion || !memfd) {
    fail(EPROTO, "the peer process runs another version of softverbs");
  }
  token_ = answer.token;
  self_ = token_ == process.token();
  if (self_) {
    table_ = &process.table();
    pidfd_.reset();
  } else {
    mapping_ = SharedTableMapping(memfd.get());
    table_ = mapping_.get();
  }
}

bool Peer::check_alive() {
  if (dead()) return false;
  if (self_) return true;
  pollfd entry{pidfd_.get(), POLLIN, 0};
  if (poll(&entry, 1, 0) == 1) mark_dead();
  return !dead();
}

Peer::Sent Peer::send(const Message& message, std::span<const iovec> payload) {
  if (dead()) return Sent::kGone;
  if (held_.load()) return Sent::kFull;
  std::array<iovec, kMaxSge + 1> data;
  data[0] = {const_cast<Message*>(&message), sizeof message};
  std::copy(payload.begin(), payload.end(), data.begin() + 1);
  msghdr header{};
  header.msg_iov = data.data();
  header.msg_iovlen = payload.size() + 1;
  for (;;) {
    if (sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return Sent::kSent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != ENOBUFS) return Sent::kGone;
    std::lock_guard lock(mutex_);
    if (!want_write_) {
      want_write_ = true;
      on_interest(true);
    }
    return Sent::kFull;
  }
}

void Peer::writable() {
  std::lock_guard lock(mutex_);
  want_write_ = false;
  on_interest(false);
}

}  // namespace softverbs
