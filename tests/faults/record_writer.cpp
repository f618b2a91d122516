// rdmablk-record-writer: fills a file with records, makes them durable, and tells which are; later
// it verifies that those are there and whole. Whatever happens to the file in between, short of the
// loss of the disk, must not matter.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <exception>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "common/unique_fd.h"
#include "common/units.h"
#include "tests/faults/acknowledgements.h"
#include "tests/faults/record_job.h"
#include "tests/faults/record_layout.h"

namespace {

using namespace rdmablk;           // NOLINT(google-build-using-namespace)
using namespace rdmablk::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kProgram = "rdmablk-record-writer";
constexpr int kMostComplaints = 10;

struct Options {
  std::string file;
  std::string acknowledged;
  std::string sync = "fsync";
  std::string size;  // the file's when empty
  std::uint64_t seed = std::random_device{}();
  std::uint64_t jobs = 1;
  std::uint64_t every = 1;
  std::uint64_t at_least = 1;
  bool direct = false;
  bool rewrite = false;
};

struct SyncKind {
  Sync sync;
  int flags;
};

const std::map<std::string, SyncKind> kSyncKinds{{"fsync", {Sync::kFsync, 0}},
                                                 {"fdatasync", {Sync::kFdatasync, 0}},
                                                 {"dsync", {Sync::kEachWrite, O_DSYNC}},
                                                 {"sync", {Sync::kEachWrite, O_SYNC}},
                                                 {"none", {Sync::kNone, 0}}};

UniqueFd open_file(const Options& options, int flags) {
  UniqueFd file(::open(options.file.c_str(), flags | O_CLOEXEC));
  if (!file) throw SystemError("open " + options.file, errno);
  return file;
}

std::uint64_t size_of(const Options& options, int file) {
  if (options.size.empty()) {
    const off_t end = ::lseek(file, 0, SEEK_END);
    if (end < 0) throw SystemError("find the size of " + options.file, errno);
    return static_cast<std::uint64_t>(end);
  }
  const auto size = parse_size(options.size);
  if (!size) throw UsageError("--size " + options.size + ": it takes a number of bytes");
  return *size;
}

/// Runs the jobs until all have ended, and returns the first failure.
std::exception_ptr run_all(std::deque<RecordJob>& jobs) {
  std::vector<std::exception_ptr> failures(jobs.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      threads.emplace_back([&job = jobs[i], &failure = failures[i]] {
        try {
          job.run();
        } catch (...) {
          failure = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) return failure;
  }
  return nullptr;
}

void write_records(const Options& options) {
  const SyncKind kind = kSyncKinds.at(options.sync);
  const UniqueFd file = open_file(options, O_WRONLY | kind.flags | (options.direct ? O_DIRECT : 0));
  const RecordLayout layout(
      {.seed = options.seed, .size = size_of(options, file.get()), .rewrite = options.rewrite});
  AcknowledgementWriter acknowledgements(options.acknowledged, layout.parameters());
  std::deque<RecordJob> jobs;
  for (std::uint64_t job = 0; job < options.jobs; ++job) {
    jobs.emplace_back(RecordJob::Settings{.file = file.get(),
                                          .job = job,
                                          .jobs = options.jobs,
                                          .every = options.every,
                                          .sync = kind.sync},
                      layout, acknowledgements);
  }
  const std::exception_ptr failure = run_all(jobs);
  std::uint64_t acknowledged = 0;
  for (const RecordJob& job : jobs) acknowledged += job.acknowledged();
  fmt::print("{} versions of {} records are durable (seed {})\n", acknowledged,
             layout.records().size(), options.seed);
  if (failure) std::rethrow_exception(failure);
}

std::vector<std::byte> read_record(const Options& options, int file, std::uint64_t offset,
                                   std::size_t length) {
  std::vector<std::byte> bytes(length);
  for (std::size_t done = 0; done < length;) {
    const ssize_t got =
        ::pread(file, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw SystemError(fmt::format("read {} at {}", options.file, offset), errno);
    if (got == 0) break;  // a file that was cut: zeroes
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void verify_records(const Options& options) {
  const Acknowledgements told = Acknowledgements::load(options.acknowledged);
  const RecordLayout layout(told.parameters);
  const UniqueFd file = open_file(options, O_RDONLY);
  std::uint64_t missing = 0;
  for (const auto& [number, version] : told.newest) {
    const Record& record = layout.records().at(number);
    const std::uint64_t offset = layout.offset(record, version);
    const auto found = read_record(options, file.get(), offset, record.length);
    if (found == layout.content(record, version)) continue;
    if (++missing > kMostComplaints) continue;
    fmt::print("record {} version {} is not at {} ({} bytes); there: {}\n", number, version, offset,
               record.length, layout.describe(record, version, found));
  }
  std::fflush(stdout);  // ahead of the error
  const std::size_t count = told.newest.size();
  if (missing > 0) {
    throw Error(fmt::format("{} of {} acknowledged records are missing in {} (seed {})", missing,
                            count, options.file, told.parameters.seed));
  }
  if (count < options.at_least) {
    throw Error(fmt::format(
        "only {} records were acknowledged, which proves too little (--at-least)", count));
  }
  fmt::print("{} acknowledged records are there\n", count);
}

CLI::App* add_command(CLI::App& app, const char* name, const char* what, Options& options) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("FILE", options.file, "a file or block device that is there")->required();
  command->add_option("--acknowledged", options.acknowledged, "the file of what is durable")
      ->required();
  return command;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Writes records that must not be lost, and verifies that they are there.");
  app.name(kProgram);
  app.require_subcommand(1);
  CLI::App* write = add_command(app, "write", "fill FILE with records", options);
  CLI::App* verify = add_command(app, "verify", "look for what was acknowledged", options);
  write->add_flag("--direct", options.direct, "O_DIRECT; FILE must take it at any byte");
  write->add_option("--sync", options.sync, "how: fsync, fdatasync, dsync, sync; none lies")
      ->check(CLI::IsMember(kSyncKinds));
  write->add_option("--jobs", options.jobs, "threads; neighbouring records are of different ones")
      ->check(CLI::PositiveNumber);
  write->add_option("--every", options.every, "writes that one flush covers")
      ->check(CLI::PositiveNumber);
  write->add_option("--size", options.size, "bytes of FILE to fill (all)");
  write->add_option("--seed", options.seed, "what all that is random follows from (random)");
  write->add_flag("--rewrite", options.rewrite, "write new versions of older records, too");
  verify->add_option("--at-least", options.at_least, "records that must have been acknowledged");
  if (!read_arguments(app, argc, argv)) return kExitDone;
  (write->parsed() ? write_records : verify_records)(options);
  return kExitDone;
}

}  // namespace

int main(int argc, char** argv) {
  return rdmablk::run_program(kProgram, &run, argc, argv);
}
