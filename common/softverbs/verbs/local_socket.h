#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>

#include "common/softverbs/file_descriptor.h"

namespace softverbs {

/// The abstract UNIX address under which the owner of a block of queue pair numbers listens. The
/// names are the host's registry: binding one allocates the block, and a process's death frees it.
struct BlockAddress {
  explicit BlockAddress(uint32_t block);
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t length = 0;
};

/// A SOCK_SEQPACKET socket that takes the largest message. Throws std::system_error.
FileDescriptor make_local_socket(int flags);

}  // namespace softverbs
