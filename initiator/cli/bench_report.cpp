#include "initiator/cli/bench_report.h"

#include <fmt/format.h>

#include <cmath>

#include "common/counted.h"
#include "common/seconds.h"
#include "common/units.h"
#include "initiator/cli/text_table.h"

namespace rdmablk::cli {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

struct Rate {
  double iops;
  double bytes_per_second;
};

Rate rate(const LatencyHistogram& latencies, const BenchOptions& options,
          const BenchResult& result) {
  const double seconds = in_seconds(result.elapsed);
  if (seconds <= 0) return {};
  const double iops = static_cast<double>(latencies.count()) / seconds;
  return {iops, iops * static_cast<double>(options.block_size)};
}

/// A duration in nanoseconds, in the unit that people would choose.
std::string duration_text(double nanoseconds) {
  if (nanoseconds < 1e6) return fmt::format("{:.1f} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.2f} ms", nanoseconds / 1e6);
  return fmt::format("{:.2f} s", nanoseconds / 1e9);
}

void add_row(TextTable& table, const char* name, const LatencyHistogram& latencies,
             const Rate& rate) {
  table.add({name, fmt::format("{:.0f}", rate.iops),
             fmt::format("{:.1f}", rate.bytes_per_second / kMebibyte),
             duration_text(static_cast<double>(latencies.min())), duration_text(latencies.mean()),
             duration_text(latencies.percentile(0.5)), duration_text(latencies.percentile(0.99)),
             duration_text(latencies.percentile(0.999)),
             duration_text(static_cast<double>(latencies.max()))});
}

std::uint64_t rounded(double value) {
  return static_cast<std::uint64_t>(std::llround(value));
}

Json figures(const LatencyHistogram& latencies, const BenchOptions& options,
             const BenchResult& result) {
  const Rate measured = rate(latencies, options, result);
  return Json{{"operations", latencies.count()},
              {"transferred_bytes", latencies.count() * options.block_size},
              {"iops", measured.iops},
              {"bandwidth_bytes_per_second", rounded(measured.bytes_per_second)},
              {"bandwidth_mib_per_second", measured.bytes_per_second / kMebibyte},
              {"latency_min_ns", latencies.min()},
              {"latency_mean_ns", rounded(latencies.mean())},
              {"latency_p50_ns", rounded(latencies.percentile(0.5))},
              {"latency_p99_ns", rounded(latencies.percentile(0.99))},
              {"latency_p99_9_ns", rounded(latencies.percentile(0.999))},
              {"latency_max_ns", latencies.max()}};
}

}  // namespace

std::string bench_text(const BenchOptions& options, const BenchResult& result) {
  TextTable table({"", "IOPS", "MiB/s", "min", "mean", "p50", "p99", "p99.9", "max"});
  for (std::size_t column = 1; column <= 8; ++column) table.align_right(column);
  for (const auto* latencies : {&result.reads, &result.writes}) {
    const bool is_read = latencies == &result.reads;
    if (!(is_read ? has_reads : has_writes)(options.workload)) continue;
    add_row(table, is_read ? "read" : "write", *latencies, rate(*latencies, options, result));
  }
  return fmt::format("{}: {}, {} a request, depth {}, {}, {:.2f} s{}\n{}", options.uri.text(),
                     workload_name(options.workload), format_size(options.block_size),
                     options.depth, counted(options.queues, "queue"), in_seconds(result.elapsed),
                     result.interrupted ? " (interrupted)" : "", table.text());
}

Json bench_json(const BenchOptions& options, const BenchResult& result) {
  Json document = new_document();
  document["uri"] = options.uri.text();
  document["rw"] = workload_name(options.workload);
  document["block_size_bytes"] = options.block_size;
  document["depth"] = options.depth;
  document["queues"] = options.queues;
  document["elapsed_ns"] = result.elapsed.count();
  document["interrupted"] = result.interrupted;
  document["unfinished"] = result.unfinished;
  if (options.workload == Workload::randrw) document["read_percent"] = options.read_percent;
  if (has_reads(options.workload)) document["read"] = figures(result.reads, options, result);
  if (has_writes(options.workload)) document["write"] = figures(result.writes, options, result);
  return document;
}

}  // namespace rdmablk::cli
