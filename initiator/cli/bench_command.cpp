#include "initiator/cli/bench_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "initiator/cli/bench_report.h"
#include "initiator/cli/bench_run.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kBenchFooter =
    "write, randwrite and randrw OVERWRITE the export's content without asking.\n"
    "\n"
    "A sequential workload goes round the range again and again, all queues together. A latency "
    "is\n"
    "the time from submitting a request to seeing its completion. Each queue has a thread. Ctrl-C\n"
    "ends a run early, with the figures so far. Requests that do not come back soon after the end\n"
    "are given up; then the exit status is 1.\n"
    "\n"
    "Examples:\n"
    "  rdmablk bench rdmablk://storage1/scratch\n"
    "  rdmablk bench rdmablk://storage1/scratch --rw randread --bs 4k --depth 1   # latency\n"
    "  rdmablk bench rdmablk://storage1/scratch --rw write --bs 1M --queues 2     # bandwidth\n"
    "  rdmablk bench rdmablk://storage1/scratch --rw randrw --rwmixread 70 --json";

}  // namespace

BenchCommand::BenchCommand(CLI::App& parent) : Command(parent, "bench", "measure an export") {
  arguments()
      .add_option("URI", typed_.uri, "rdmablk://HOST[:PORT]/EXPORT")
      ->type_name("")
      ->required();
  add_option("--rw", typed_.rw, "KIND", "read, write, randread, randwrite or randrw");
  add_option("--bs", typed_.block_size, "SIZE", "bytes of each request, such as 4k or 1M");
  add_option("--depth", typed_.depth, "N", "requests in flight on each queue, 1 to 4096");
  add_option("--queues", typed_.queues, "N", "queues, each with a connection and thread, 1 to 64");
  add_option("--time", typed_.time, "SECONDS", "how long to measure");
  add_option("--rwmixread", typed_.read_percent, "PERCENT", "share of reads in randrw");
  add_option("--offset", typed_.offset, "SIZE", "where in the export to begin");
  add_option("--size", typed_.size, "SIZE", "how much of the export to use; default: to its end");
  add_option("--reconnect-delay", typed_.reconnect_delay, "SECONDS",
             "between two attempts to reconnect to a lost target, at most");
  add_option("--fail-fast", typed_.fail_fast, "SECONDS",
             "after so long without the target, requests fail; or never");
  add_option("--give-up", typed_.give_up, "SECONDS",
             "after so long without the target, there are no more attempts; or never");
  arguments().add_flag("--take-over", typed_.take_over,
                       "of those that write: take the export from the initiator that has it");
  add_json_option();
  add_credential_options();
  initiator::describe_connection(arguments(), typed_.connection);
  add_log_level_option();
  arguments().footer(kBenchFooter);
}

void BenchCommand::add_option(const char* name, std::string& value, const char* type,
                              const char* description) {
  auto* option = arguments().add_option(name, value, description)->type_name(type);
  if (!value.empty()) option->capture_default_str();
}

int BenchCommand::run() {
  const BenchOptions options = read_bench_arguments(typed_);
  start_log();
  run_bench(options, credentials(), [&](const BenchResult& result) {
    if (wants_json()) {
      print_json(bench_json(options, result));
    } else {
      fmt::print("{}", bench_text(options, result));
    }
  });
  return kExitDone;
}

}  // namespace rdmablk::cli
