#pragma once

#include "common/metrics/io_counters.h"
#include "common/protocol/use_report.h"

namespace rdmablk::metrics {

/// Figures as an initiator reports them.
inline protocol::Use use_of(const IoFigures& io) noexcept {
  protocol::Use use;
  use.reads = io.of(IoKind::read).ended;
  use.writes = io.of(IoKind::write).ended;
  use.flushes = io.of(IoKind::flush).ended;
  use.others = io.of(IoKind::zero).ended + io.of(IoKind::discard).ended + io.of(IoKind::map).ended;
  use.bytes_read = io.of(IoKind::read).bytes;
  use.bytes_written = io.of(IoKind::write).bytes;
  for (const IoKindFigures& kind : io.kinds) use.errors += kind.failed();
  return use;
}

}  // namespace rdmablk::metrics
