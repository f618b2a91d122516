#pragma once

#include <functional>

#include "initiator/cli/bench_result.h"

namespace rdmablk::cli {

/// Attaches the export, loads it as the options say, reports, and detaches. Throws UsageError when
/// the options do not fit the export, Error when anything fails, an I/O request too. When requests
/// did not come back it ends the process after the report, with one line and kExitFailed: to detach
/// would be to wait for a target that does not answer.
void run_bench(const BenchOptions& options, const std::function<void(const BenchResult&)>& report);

}  // namespace rdmablk::cli
