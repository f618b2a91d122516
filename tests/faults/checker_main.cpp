// rdmablk-checker: reads and writes an export from several threads, or processes, and proves that
// all that was read can be explained by what was written.

#include <fmt/format.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <optional>
#include <thread>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "initiator/cli/termination_signals.h"
#include "tests/faults/checker_run.h"
#include "tests/faults/history_verifier.h"

namespace rdmablk::faults {
namespace {

constexpr const char* kProgram = "rdmablk-checker";
constexpr int kVerifyEveryMs = 2;

struct Arguments {
  std::string uri;
  std::string history;
  Shape shape;
  CheckerOptions checker;
  bool clear = false;
  bool repeated = false;
  bool verbose = false;
};

std::uint64_t total(const SharedHistory& history, std::atomic<std::uint64_t> Lane::*counter) {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < history.shape().lanes; ++i) sum += (history.lane(i).*counter).load();
  return sum;
}

/// Prints what was done and found. @return the exit status.
int report(const SharedHistory& history, const HistoryVerifier& verifier) {
  fmt::print(
      "operations {}, failed {}, words read {}, queues recovered {}, sessions {}, reconnects {}, "
      "writers killed "
      "{}\n",
      total(history, &Lane::operations), total(history, &Lane::failures),
      verifier.checker().reads(), total(history, &Lane::recoveries),
      total(history, &Lane::sessions), total(history, &Lane::reconnects), verifier.deaths());
  std::fflush(stdout);
  const auto& violation = verifier.checker().violation();
  if (!violation) return kExitDone;
  fmt::print(stderr, "{}: what was read cannot be explained: {}", kProgram, violation->text);
  return kExitFailed;
}

/// Verifies until `fd` is readable or a violation is found.
void verify_until(HistoryVerifier& verifier, const SharedHistory& history, int fd) {
  for (;;) {
    verifier.advance();
    if (verifier.checker().violation()) return history.stop();
    pollfd waiting{fd, POLLIN, 0};
    if (::poll(&waiting, 1, kVerifyEveryMs) == 1) return;
  }
}

int verify(const Arguments& arguments) {
  cli::TerminationSignals signals;
  const SharedHistory history = SharedHistory::create(arguments.history, arguments.shape);
  HistoryVerifier verifier(history);
  fmt::print("verifying {}\n", arguments.history);
  std::fflush(stdout);
  verify_until(verifier, history, signals.fd());
  signals.take();
  history.stop();
  // Writers that are left end now; those that were killed are noticed.
  while (verifier.has_writers() && !verifier.checker().violation()) {
    verifier.advance();
    ::poll(nullptr, 0, kVerifyEveryMs);
  }
  verifier.finish();
  return report(history, verifier);
}

/// Ends the run on a signal, when the time is over, or when `done` is.
void watch_the_clock(const CheckerOptions& options, int signals, CheckerRun& run,
                     const std::stop_token& done) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + options.time;
  while (!done.stop_requested()) {
    pollfd waiting{signals, POLLIN, 0};
    const bool signalled = ::poll(&waiting, 1, 20) == 1;
    if (!signalled && (options.time.count() == 0 || Clock::now() < end)) continue;
    return run.stop();
  }
}

void run_workload(const Arguments& arguments, const SharedHistory& history) {
  cli::TerminationSignals signals;
  CheckerRun run(history, arguments.checker);
  if (arguments.clear) run.clear();
  const std::jthread clock([&](const std::stop_token& done) {
    watch_the_clock(arguments.checker, signals.fd(), run, done);
  });
  run.run();
}

int run_and_verify(Arguments arguments) {
  arguments.clear = true;
  arguments.shape.lanes = arguments.checker.threads;
  const SharedHistory history = SharedHistory::in_memory(arguments.shape);
  HistoryVerifier verifier(history);
  {
    const std::jthread verifying([&](const std::stop_token& done) {
      while (!done.stop_requested()) {
        const std::size_t records = verifier.advance();
        if (verifier.checker().violation()) return history.stop();
        if (records == 0) ::poll(nullptr, 0, kVerifyEveryMs);
      }
    });
    run_workload(arguments, history);
  }
  verifier.finish();
  return report(history, verifier);
}

int show_status(const Arguments& arguments) {
  fmt::print("{}\n", total(SharedHistory::open(arguments.history), &Lane::operations));
  return kExitDone;
}

int run_in_shared_history(const Arguments& arguments) {
  run_workload(arguments, SharedHistory::open(arguments.history));
  return kExitDone;
}

void add_shape(CLI::App& command, Arguments& arguments) {
  Shape& shape = arguments.shape;
  command.add_option("--blocks", shape.blocks, "blocks that are read and written (16)")
      ->check(CLI::Range(1, 1 << 20));
  command.add_option("--block-words", shape.block_words, "words of 8 bytes in a block (8)")
      ->check(CLI::Range(1, 1 << 14));
  command.add_option("--offset", shape.offset, "where the first block begins (0)")
      ->transform(CLI::AsSizeValue(false));
  command.add_flag("--repeated", arguments.repeated,
                   "a write in flight may take effect more than once, as when it is replayed");
}

CLI::App* add_run(CLI::App& app, Arguments& arguments) {
  CLI::App* run = app.add_subcommand("run", "read and write an export; verify it, or let others");
  CheckerOptions& checker = arguments.checker;
  run->add_option("URI", arguments.uri, "rdmablk://HOST[:PORT]/EXPORT")->required();
  run->add_option("--history", arguments.history,
                  "tell it to `verify`, which has made this file (verify it here, having cleared "
                  "the blocks)");
  run->add_option("--threads", checker.threads, "threads, each with a queue (4)")
      ->check(CLI::Range(1, 64));
  run->add_option("--depth", checker.depth, "requests in flight on a queue (8)")
      ->check(CLI::Range(1, 256));
  run->add_option("--reads", checker.read_percent, "percent that are reads (50)")
      ->check(CLI::Range(0, 100));
  run->add_option("--flush-every", checker.flush_every, "one request in so many is a flush (none)");
  run->add_option("--operations", checker.operations, "end after so many (no limit)");
  run->add_option("--seconds", checker.time, "end after so long (no limit)");
  run->add_option("--seed", checker.seed, "what is chosen at random follows from it (1)");
  run->add_option("--patience", checker.patience,
                  "milliseconds that a queue may fail before a new session is begun (0)");
  run->add_option("--give-up", checker.give_up,
                  "fail after so many seconds without a session (60)");
  run->add_option("--reconnect-delay", checker.recovery.reconnect_delay,
                  "milliseconds between attempts to connect a lost queue, at most (2000)");
  run->add_option("--fail-fast", checker.recovery.fail_fast,
                  "milliseconds after which requests fail while a queue is lost (they wait)");
  run->add_flag("--take-over", checker.take_over, "take the lease over from whoever holds it");
  run->add_flag("--fenced", checker.fenced,
                "a new session fences what an earlier one has left behind");
  run->add_flag("--abandon", checker.abandon,
                "leave sessions that are given up as they are, as when a link is lost");
  run->add_flag("--clear", arguments.clear, "with --history: make the blocks zero first");
  run->add_flag("--verbose", arguments.verbose, "show what the library logs of each failure");
  add_shape(*run, arguments);
  return run;
}

CLI::App* add_verify(CLI::App& app, Arguments& arguments) {
  CLI::App* verify = app.add_subcommand(
      "verify", "make a history and verify it until SIGTERM; blocks begin as zero");
  verify->add_option("FILE", arguments.history, "where it is made")->required();
  verify->add_option("--lanes", arguments.shape.lanes, "threads that can write it at once (4)")
      ->check(CLI::Range(1, 1024));
  add_shape(*verify, arguments);
  return verify;
}

CLI::App* add_status(CLI::App& app, Arguments& arguments) {
  CLI::App* status = app.add_subcommand("status", "print how many operations a history has");
  status->add_option("FILE", arguments.history, "the history")->required();
  return status;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Reads and writes blocks of an export at once and proves that each word that was read is "
      "what "
      "some order of the writes explains. Ends with 1 when it is not.");
  app.name(kProgram);
  app.require_subcommand(1);
  const CLI::App* run = add_run(app, arguments);
  const CLI::App* verifying = add_verify(app, arguments);
  add_status(app, arguments);
  if (!read_arguments(app, argc, argv)) return kExitDone;
  arguments.shape.repeated = arguments.repeated ? 1 : 0;
  if (verifying->parsed()) return verify(arguments);
  if (!run->parsed()) return show_status(arguments);
  arguments.checker.uri = parse_uri(arguments.uri);
  if (!arguments.verbose) spdlog::set_level(spdlog::level::off);
  return arguments.history.empty() ? run_and_verify(arguments) : run_in_shared_history(arguments);
}

}  // namespace
}  // namespace rdmablk::faults

int main(int argc, char** argv) {
  return rdmablk::run_program(rdmablk::faults::kProgram, &rdmablk::faults::run, argc, argv);
}
