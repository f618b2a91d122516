#include "initiator/cli/top_command.h"

#include <fmt/format.h>
#include <poll.h>

#include <CLI/CLI.hpp>
#include <optional>

#include "common/error.h"
#include "common/mount_table.h"
#include "initiator/cli/mounts_report.h"
#include "initiator/cli/termination_signals.h"
#include "initiator/cli/top_report.h"
#include "initiator/cli/top_screen.h"
#include "initiator/cli/unmount.h"

namespace rdmablk::cli {
namespace {

/// How long mounts may take to answer: one that hangs must not hold up the others.
constexpr std::chrono::milliseconds kMountPatience{500};

std::vector<MountReport> ask_mounts() {
  std::vector<MountEntry> mounts;
  for (MountEntry& mount : read_mount_table()) {
    if (is_rdmablk_mount(mount)) mounts.push_back(std::move(mount));
  }
  const auto answers = probe_mounts(mounts, kMountPatience);
  std::vector<MountReport> reports;
  for (std::size_t i = 0; i < mounts.size(); ++i) reports.push_back({mounts[i], answers[i]});
  return reports;
}

/// @return false when a signal came first.
bool pause(const TerminationSignals& signals, std::chrono::milliseconds time) {
  pollfd source{signals.fd(), POLLIN, 0};
  return ::poll(&source, 1, static_cast<int>(time.count())) == 0;
}

}  // namespace

TopCommand::TopCommand(CLI::App& parent)
    : AdminCommand(parent, "top", "watch what the exports and mounts of this machine do", "2") {
  arguments()
      .add_option("-d,--delay", delay_, "seconds between two looks, more than 0")
      ->type_name("SECONDS")
      ->capture_default_str();
  arguments().add_flag("--once", once_, "look once, for one delay, print that and end");
  arguments().footer(
      "Numbers are per second, since the look before; errors are counted from the start. What the\n"
      "target does not see itself, as it goes past its CPU, its clients report every few seconds.\n"
      "With --json, one document a look. Ctrl-C ends it.\n"
      "\n"
      "Examples:\n"
      "  rdmablk top\n"
      "  rdmablk top --once --json -d 5");
}

std::chrono::milliseconds TopCommand::interval() const {
  try {
    return read_timeout(delay_);
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "--delay takes seconds, more than 0, with up to three decimals, not '{}'", delay_));
  }
}

TopSample TopCommand::sample() const {
  TopSample sample;
  sample.at = std::chrono::steady_clock::now();
  const auto mounts = ask_mounts();
  sample.mounts = top_mounts(mounts);
  sample.paths = top_paths(mounts);
  try {
    sample.exports = top_exports(ask({{"request", "exports"}}, "list the exports")["exports"]);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    sample.target_problem = error.what();
  }
  return sample;
}

int TopCommand::run() {
  const auto time = interval();
  const TerminationSignals signals;
  std::optional<TopScreen> screen;
  if (!once_ && !wants_json()) screen.emplace();
  TopSample before = sample();
  if (screen) screen->show(top_text(before, before));
  while (pause(signals, time)) {
    TopSample now = sample();
    if (wants_json()) {
      fmt::print("{}\n",
                 top_json(before, now).dump(-1, ' ', false, Json::error_handler_t::replace));
      std::fflush(stdout);
    } else if (screen) {
      screen->show(top_text(before, now));
    } else {
      fmt::print("{}", top_text(before, now));
    }
    if (once_) return kExitDone;
    before = std::move(now);
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
