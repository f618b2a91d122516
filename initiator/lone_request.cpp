#include "initiator/lone_request.h"

#include <poll.h>

namespace rdmablk::initiator {

void perform(Queue& queue, Request& request) noexcept {
  Request* done = nullptr;
  queue.submit(request);
  queue.kick();
  while (queue.poll({&done, 1}) == 0) {
    queue.arm();
    if (queue.poll({&done, 1}) > 0) return;
    pollfd waiting{queue.fd(), POLLIN, 0};
    ::poll(&waiting, 1, -1);
  }
}

}  // namespace rdmablk::initiator
