#include "common/unique_fd.h"

#include <fcntl.h>

#include "common/error.h"

namespace rdmablk {

void set_nonblocking(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    throw SystemError("make a file descriptor non-blocking", errno);
  }
}

}  // namespace rdmablk
