#include "initiator/queue_connection.h"

#include <sys/epoll.h>

#include <cerrno>

namespace rdmablk::initiator {

QueueConnection::QueueConnection(std::unique_ptr<Link> link, const verbs::ProtectionDomain& pd,
                                 const verbs::QueuePairOptions& options)
    : events_(link->device()),
      cq_(link->device(), options.send_requests + options.receive_requests, &events_),
      link_(std::move(link)),
      wait_set_(::epoll_create1(EPOLL_CLOEXEC)),
      qp_(&link_->create_queue_pair(pd, cq_, options)) {
  watch(events_.fd());
  watch(link_->lost_fd());
}

void QueueConnection::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(wait_set_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw SystemError("wait for the completions of an I/O queue", errno);
  }
}

}  // namespace rdmablk::initiator
