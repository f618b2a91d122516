#pragma once

#include <functional>
#include <optional>

#include "initiator/cli/bench_result.h"
#include "initiator/credentials.h"

namespace rdmablk::cli {

/// Attaches the export, loads it as the options say, reports, and detaches. Throws UsageError when
/// the options do not fit the export, Error when anything fails, an I/O request too. When requests
/// did not come back it ends the process after the report, with one line and kExitFailed: to detach
/// would be to wait for a target that does not answer.
/// @param credentials for a target that asks who this is.
void run_bench(const BenchOptions& options, std::optional<initiator::Credentials> credentials,
               const std::function<void(const BenchResult&)>& report);

}  // namespace rdmablk::cli
