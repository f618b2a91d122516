#include "tests/scale/watched_target.h"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "common/error.h"

namespace rdmablk::scale {
namespace {

using Clock = std::chrono::steady_clock;

/// Far longer than anything takes.
constexpr std::chrono::seconds kPatience{60};

/// Between two looks at what nothing announces.
constexpr std::chrono::milliseconds kPause{5};

std::int64_t size_of(std::ifstream& file) {
  file.seekg(0, std::ios::end);
  return file.tellg();
}

/// "counts: sessions=0 attachments=0 ..."
TargetCounts parse(const std::string& line) {
  TargetCounts counts;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const auto equal = word.find('=');
    if (equal != std::string::npos) {
      counts[word.substr(0, equal)] = std::stoll(word.substr(equal + 1));
    }
  }
  return counts;
}

std::string difference(const TargetCounts& expected, const TargetCounts& found) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : expected) {
    const auto other = found.find(name);
    const std::int64_t actual = other == found.end() ? -1 : other->second;
    if (actual != value) parts.push_back(fmt::format("{} {} instead of {}", actual, name, value));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

WatchedTarget::WatchedTarget(pid_t pid, std::string log) : pid_(pid), log_(std::move(log)) {
  std::ifstream file(log_);
  if (!file) throw Error(fmt::format("cannot read the target's log {}", log_));
  read_ = size_of(file);
}

TargetCounts WatchedTarget::counts() {
  if (::kill(pid_, SIGUSR1) != 0) {
    throw SystemError(fmt::format("ask process {} for its counts", pid_), errno);
  }
  const auto end = Clock::now() + kPatience;
  while (Clock::now() < end) {
    const std::string line = next_line();
    if (!line.empty()) return parse(line);
    std::this_thread::sleep_for(kPause);
  }
  throw Error(fmt::format("process {} does not tell its counts in {}", pid_, log_));
}

/// @return the next counts in the log; nothing when they are not there yet.
std::string WatchedTarget::next_line() {
  std::ifstream file(log_);
  const std::int64_t size = size_of(file);
  std::string text(static_cast<std::size_t>(size - read_), '\0');
  file.seekg(read_);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  const auto start = text.find("counts: ");
  const auto end = start == std::string::npos ? start : text.find('\n', start);
  if (end == std::string::npos) return {};
  read_ += static_cast<std::int64_t>(end);
  return text.substr(start, end - start);
}

void WatchedTarget::wait_for(const TargetCounts& expected) {
  const auto end = Clock::now() + kPatience;
  while (true) {
    const std::string wrong = difference(expected, counts());
    if (wrong.empty()) return;
    if (Clock::now() > end) throw Error("the target has " + wrong);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace rdmablk::scale
