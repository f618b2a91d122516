#pragma once

#include "initiator/cli/bench_result.h"
#include "initiator/session.h"

namespace rdmablk::cli {

/// Attaches the export, loads it as the options say, and detaches. Throws UsageError when the
/// options do not fit the export, Error when anything fails, an I/O request too.
BenchResult run_bench(const BenchOptions& options,
                      const initiator::SessionOptions& session_options);

}  // namespace rdmablk::cli
