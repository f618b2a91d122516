#include "common/softverbs/verbs/connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/peer.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"
#include "common/softverbs/verbs/service.h"

namespace softverbs {
namespace {

/// So many messages are taken from a connection before others have their turn.
constexpr int kMessagesPerTurn = 64;

/// Whether a message may end in a completion of a receive.
bool delivers(const Message& request) {
  return request.type == MessageType::kSend || request.type == MessageType::kWriteImm;
}

}  // namespace

Connection::Connection(Process& process, Service& service, FileDescriptor fd)
    : process_(process),
      service_(service),
      fd_(std::move(fd)),
      buffer_(sizeof(Message) + kMaxPayload) {}

void Connection::on_events(uint32_t events) {
  if (events & EPOLLOUT) send_backlog();
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive();
}

void Connection::receive() {
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    const ssize_t received = recv(fd(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    // A reset is told once, before what the peer sent until then.
    if (received < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
    if (received < 0 && errno == EAGAIN) break;
    const auto length = static_cast<size_t>(received);
    if (received <= 0) return close();
    if (token_ == 0) {
      if (!greet(buffer_.data(), length)) return close();
      continue;
    }
    Message request;
    if (length < sizeof request) return close();
    std::memcpy(&request, buffer_.data(), sizeof request);
    handle(request, buffer_.data() + sizeof request);
  }
}

bool Connection::greet(const char* data, size_t length) {
  Hello hello{};
  if (length != sizeof hello) return false;
  std::memcpy(&hello, data, sizeof hello);
  if (hello.token == 0) return false;
  Hello answer{kMessageVersion, 0, process_.token()};
  iovec vector{&answer, sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int memfd = process_.table_memfd();
  std::memcpy(CMSG_DATA(header), &memfd, sizeof memfd);
  if (sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return false;
  token_ = hello.token;
  return true;
}

void Connection::close() {
  if (!backlog_.empty()) release_requests();
  service_.close_connection(*this);
}

Peer* Connection::peer() {
  if (!peer_) peer_ = service_.find_peer(token_);
  return peer_.get();
}

void Connection::handle(const Message& request, const char* payload) {
  // What the peer acknowledged before it sent this is seen to complete before this is.
  if (delivers(request) && peer() != nullptr) service_.take_replies(*peer());
  const auto lock = process_.queue_pairs().lock();
  if (QueuePair* queue_pair = process_.queue_pairs().find(request.dest_qpn)) {
    queue_pair->on_request(*this, request, payload);
  } else {
    reply(Responder::answer(request, ReplyStatus::kGone), nullptr);
  }
}

void Connection::reply(const Message& reply, const char* payload) {
  std::array<iovec, 2> data{iovec{const_cast<Message*>(&reply), sizeof reply},
                            iovec{const_cast<char*>(payload), reply.payload}};
  msghdr header{};
  header.msg_iov = data.data();
  header.msg_iovlen = reply.payload > 0 ? 2 : 1;
  while (backlog_.empty()) {
    if (sendmsg(fd(), &header, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != ENOBUFS) return;  // Its end shows when it is read.
    service_.watch(fd(), EPOLLIN | EPOLLOUT, *this, true);
    break;
  }
  std::vector<char> copy(sizeof reply + reply.payload);
  std::memcpy(copy.data(), &reply, sizeof reply);
  if (reply.payload > 0) std::memcpy(copy.data() + sizeof reply, payload, reply.payload);
  backlog_.push_back(std::move(copy));
  // No request of this process may overtake it.
  if (peer() != nullptr) peer()->hold_requests();
}

void Connection::send_backlog() {
  while (!backlog_.empty()) {
    const std::vector<char>& front = backlog_.front();
    const ssize_t sent = ::send(fd(), front.data(), front.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) return;
    backlog_.pop_front();
  }
  service_.watch(fd(), EPOLLIN, *this, true);
  release_requests();
}

void Connection::release_requests() {
  if (peer() == nullptr || peer()->dead()) return;
  peer()->release_requests();
  service_.resume(*peer());
}

}  // namespace softverbs
