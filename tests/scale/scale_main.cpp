// rdmablk-scale: opens many sessions on one target, works with them and measures what they cost.

#include <CLI/CLI.hpp>
#include <map>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "tests/scale/member.h"
#include "tests/scale/scale_run.h"

namespace rdmablk::scale {
namespace {

constexpr const char* kProgram = "rdmablk-scale";

void describe(CLI::App& app, ScaleOptions& options, std::string& target) {
  const std::map<std::string, Kind> kinds{
      {"readers", Kind::readers}, {"shared", Kind::shared}, {"each", Kind::each}};
  app.add_option("TARGET", target, "HOST:PORT of the target")->required();
  app.add_option("--target-pid", options.target_pid, "its process, on this machine")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--target-log", options.target_log, "the file that its log goes to")->required();
  app.add_option("--sessions", options.sessions, "how many (1)")->check(CLI::Range(1, 65535));
  app.add_option(
         "--kind", options.kind,
         "what they attach: one export as readers, or as writers of a part each (shared), or "
         "an export each (readers)")
      ->transform(CLI::CheckedTransformer(kinds));
  app.add_option("--export", options.export_name,
                 "the export; with --kind each what stands before the number of a session (disk)");
  app.add_option("--depth", options.depth, "of the queue of each (32)")->check(CLI::Range(1, 4096));
  app.add_option("--in-flight", options.in_flight, "requests in flight, of all of them (32)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--requests", options.requests, "reads of 4 KiB that are measured (100000)")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "that open sessions at once (8)")
      ->check(CLI::Range(1, 256));
  app.add_option_function<unsigned>(
      "--idle", [&options](unsigned seconds) { options.idle = std::chrono::seconds(seconds); },
      "seconds for which the idle target is watched (0)");
}

int run(int argc, char** argv) {
  ScaleOptions options;
  std::string target;
  CLI::App app(
      "Opens sessions on a target, one after the other and several at once, works with them, "
      "closes "
      "them, and prints what they cost as JSON. Each works on 64 KiB of its export. Ends with 1 "
      "when "
      "one does not work, or leaves something behind.");
  app.name(kProgram);
  describe(app, options, target);
  if (!read_arguments(app, argc, argv)) return kExitDone;
  options.target = parse_host_port(target);
  start_logging(kProgram, "warning");
  cli::print_json(run_scale(options));
  return kExitDone;
}

}  // namespace
}  // namespace rdmablk::scale

int main(int argc, char** argv) {
  return rdmablk::run_program(rdmablk::scale::kProgram, &rdmablk::scale::run, argc, argv);
}
