#pragma once

#include <rdma/rdma_cma.h>

#include <cstdint>

#include "common/softverbs/file_descriptor.h"

namespace softverbs::cm {

/// Says to ids that look for a port to connect from that a port is taken, without their reading the
/// whole register of ports: a read lock on one byte of the network namespace's own file. Any number
/// of ids may mark one port, and the kernel takes the marks of a process away when it dies.
class PortMark {
 public:
  /// Marks a port until clear() or destruction; one that it marked before is marked no more. Where
  /// there is no /proc nothing is marked.
  void set(rdma_port_space port_space, uint16_t port);
  void clear() { file_.reset(); }

  /// Whether any id, of any process, has marked a port.
  static bool is_set(rdma_port_space port_space, uint16_t port);

 private:
  FileDescriptor file_;
};

}  // namespace softverbs::cm
