#include "common/softverbs/cm/port_mark.h"

#include <fcntl.h>

#include <utility>

namespace softverbs::cm {
namespace {

constexpr unsigned kPortBits = 16;

FileDescriptor open_namespace() {
  return FileDescriptor(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
}

struct flock lock_of(rdma_port_space port_space, uint16_t port, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = (off_t{port_space} << kPortBits) | port;
  lock.l_len = 1;
  return lock;
}

}  // namespace

void PortMark::set(rdma_port_space port_space, uint16_t port) {
  FileDescriptor file = open_namespace();
  struct flock lock = lock_of(port_space, port, F_RDLCK);
  ::fcntl(file.get(), F_OFD_SETLK, &lock);
  file_ = std::move(file);
}

bool PortMark::is_set(rdma_port_space port_space, uint16_t port) {
  const FileDescriptor file = open_namespace();
  // What would stand in the way of a lock that shares with none.
  struct flock lock = lock_of(port_space, port, F_WRLCK);
  return ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace softverbs::cm
