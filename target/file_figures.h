#pragma once

#include "common/metrics/io_counters.h"
#include "common/metrics/latency_histogram.h"

namespace rdmablk::target {

/// What was done with the file of an export.
struct FileFigures {
  metrics::IoFigures io;          ///< requests of initiators that the target worked on
  metrics::LatencyFigures syncs;  ///< each fdatasync(2)
};

}  // namespace rdmablk::target
