#include "fuse/worker_team.h"

namespace rdmablk::fuse {

protocol::Use WorkerTeam::use() const noexcept {
  using metrics::IoKind;
  const metrics::IoFigures io = figures();
  protocol::Use use;
  use.reads = io.of(IoKind::read).ended;
  use.writes = io.of(IoKind::write).ended;
  use.flushes = io.of(IoKind::flush).ended;
  use.others = io.of(IoKind::zero).ended + io.of(IoKind::discard).ended + io.of(IoKind::map).ended;
  use.bytes_read = io.of(IoKind::read).bytes;
  use.bytes_written = io.of(IoKind::write).bytes;
  for (const metrics::IoKindFigures& kind : io.kinds) use.errors += kind.failed();
  return use;
}

}  // namespace rdmablk::fuse
