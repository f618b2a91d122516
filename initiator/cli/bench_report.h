#pragma once

#include <string>

#include "initiator/cli/bench_result.h"
#include "initiator/cli/json.h"

namespace rdmablk::cli {

/// The figures for people.
std::string bench_text(const BenchOptions& options, const BenchResult& result);

/// The figures as `rdmablk bench --json` prints them: `read` and `write` are there when the
/// workload has them.
Json bench_json(const BenchOptions& options, const BenchResult& result);

}  // namespace rdmablk::cli
