// rdmablk-log-writes-replay: replays a log of device mapper's log-writes onto a device or file, and
// wherever the power might have been cut, that is after each flush, FUA write or mark, asks a
// command whether what is there is good.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "common/unique_fd.h"
#include "tests/faults/write_log.h"

namespace {

using namespace rdmablk;           // NOLINT(google-build-using-namespace)
using namespace rdmablk::testing;  // NOLINT(google-build-using-namespace)

constexpr const char* kProgram = "rdmablk-log-writes-replay";
constexpr const char* kEndMark = "dm-log-writes-end";  // the kernel's own, when the log is closed
constexpr const char* kFooter =
    "The command finds in its environment REPLAY_TARGET (the device), REPLAY_ENTRY (the number of "
    "the "
    "entry\nreplayed last) and REPLAY_MARK (the last mark). It must not change the device: "
    "journals are "
    "replayed on a\ncopy.";

struct Options {
  std::string log;
  std::string target;
  std::string command;
  std::string at = "all";
  std::string after;  // a mark
  std::uint64_t at_least = 1;
};

struct Counts {
  std::uint64_t entries = 0;
  std::uint64_t flushes = 0;
  std::uint64_t marks = 0;
  std::uint64_t checks = 0;
};

/// The device that is brought to each moment of the log, one after the other.
class Target {
 public:
  explicit Target(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    if (!file_) throw SystemError("open " + path, errno);
  }

  void apply(const WriteLog::Entry& entry) {
    if ((entry.flags & WriteLog::kDiscard) != 0) {
      discard(entry.offset, entry.length);
    } else {
      write(entry.offset, entry.data);
    }
  }

 private:
  void write(std::uint64_t offset, std::span<const std::byte> data) {
    while (!data.empty()) {
      const ssize_t written =
          ::pwrite(file_.get(), data.data(), data.size(), static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw SystemError(fmt::format("write {} at {}", path_, offset), errno);
      offset += static_cast<std::uint64_t>(written);
      data = data.subspan(static_cast<std::size_t>(written));
    }
  }

  /// What is discarded reads as zeroes from then on.
  void discard(std::uint64_t offset, std::uint64_t length) {
    constexpr std::size_t kPiece = std::size_t{1} << 20U;
    for (const int how : {FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE}) {
      if (::fallocate(file_.get(), how | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                      static_cast<off_t>(length)) == 0) {
        return;
      }
    }
    const std::vector<std::byte> zeroes(kPiece);
    while (length > 0) {
      const std::size_t count = std::min<std::uint64_t>(kPiece, length);
      write(offset, std::span(zeroes).first(count));
      offset += count;
      length -= count;
    }
  }

  std::string path_;
  UniqueFd file_;
};

/// Whether the command is to look at what the entry left.
bool is_moment(const WriteLog::Entry& entry, const Options& options) {
  const bool is_flush = (entry.flags & (WriteLog::kFlush | WriteLog::kFua)) != 0;
  const bool is_mark = (entry.flags & WriteLog::kMark) != 0;
  return (is_flush && options.at != "mark") || (is_mark && options.at != "flush");
}

void check(const Options& options, const WriteLog::Entry& entry, const std::string& mark) {
  ::setenv("REPLAY_TARGET", options.target.c_str(), 1);
  ::setenv("REPLAY_ENTRY", std::to_string(entry.index).c_str(), 1);
  ::setenv("REPLAY_MARK", mark.c_str(), 1);
  const int status = std::system(options.command.c_str());
  if (status == 0) return;
  throw Error(fmt::format("after entry {} (flags {}, the last mark is '{}') '{}' ended with {}",
                          entry.index, entry.flags, mark, options.command,
                          WIFEXITED(status) ? fmt::format("status {}", WEXITSTATUS(status))
                                            : fmt::format("signal {}", WTERMSIG(status))));
}

Counts replay(const Options& options) {
  WriteLog log(options.log);
  Target target(options.target);
  Counts counts;
  std::string mark;
  bool checking = options.after.empty();
  while (const auto entry = log.next()) {
    const bool is_mark = (entry->flags & WriteLog::kMark) != 0;
    if (is_mark) {
      if (entry->mark != kEndMark) mark = entry->mark;
      checking = checking || mark == options.after;
    } else {
      target.apply(*entry);
    }
    ++counts.entries;
    counts.marks += is_mark ? 1 : 0;
    counts.flushes += (entry->flags & (WriteLog::kFlush | WriteLog::kFua)) != 0 ? 1 : 0;
    if (options.command.empty() || !checking || !is_moment(*entry, options)) continue;
    check(options, *entry, mark);
    ++counts.checks;
  }
  if (!checking) throw Error(fmt::format("{} has no mark '{}'", options.log, options.after));
  return counts;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Replays the writes that device mapper logged, and checks each moment of them.");
  app.name(kProgram);
  app.footer(kFooter);
  app.add_option("LOGDEV", options.log, "the log: a device or file")->required();
  app.add_option("TARGETDEV", options.target,
                 "as it was when logging began; a device or file of that size")
      ->required();
  app.add_option("--command", options.command, "checks each moment; for the shell");
  app.add_option("--at", options.at, "which: flush (and FUA writes), mark, or all of them (all)")
      ->check(CLI::IsMember(std::set<std::string>{"flush", "mark", "all"}));
  app.add_option("--after", options.after, "check only from this mark on");
  app.add_option("--at-least", options.at_least, "checks that there must have been (1)");
  if (!read_arguments(app, argc, argv)) return kExitDone;
  const Counts counts = replay(options);
  fmt::print("replayed {} entries ({} flushes, {} marks), checked {} times\n", counts.entries,
             counts.flushes, counts.marks, counts.checks);
  if (!options.command.empty() && counts.checks < options.at_least) {
    throw Error(fmt::format("{} checks prove too little (--at-least)", counts.checks));
  }
  return kExitDone;
}

}  // namespace

int main(int argc, char** argv) {
  return rdmablk::run_program(kProgram, &run, argc, argv);
}
