#include "tests/faults/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::testing {

namespace {

[[noreturn]] void reject(std::string_view what, std::string_view expected) {
  throw UsageError(fmt::format("'{}' is no {}", what, expected));
}

Operation operation_of(const std::string& word) {
  if (word == "read") return Operation::kRead;
  if (word == "write") return Operation::kWrite;
  if (word == "fsync") return Operation::kSync;
  reject(word, "operation: read, write or fsync");
}

int error_of(const std::string& word) {
  if (word == "EIO") return EIO;
  if (word == "ENOSPC") return ENOSPC;
  reject(word, "error: EIO or ENOSPC");
}

std::uint64_t number_of(const std::string& word) {
  const auto number = parse_size(word);
  if (!number) reject(word, "number");
  return *number;
}

std::vector<std::string> split(std::string_view line) {
  std::istringstream stream{std::string(line)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace

void FaultPlan::apply(std::string_view line) {
  const std::vector<std::string> words = split(line);
  if (words.empty()) return;
  const std::scoped_lock lock(mutex_);
  const std::size_t count = words.size();
  if (words[0] == "clear" && count == 1) {
    clear();
  } else if (words[0] == "fail" && count >= 3) {
    fail(words);
  } else if (words[0] == "delay" && count == 3) {
    delays_[operation_of(words[1])] = std::chrono::milliseconds(number_of(words[2]));
  } else if (words[0] == "jitter" && count == 3) {
    jitters_[operation_of(words[1])] = std::chrono::milliseconds(number_of(words[2]));
  } else if (words[0] == "short" && (count == 3 || count == 4) && words[1] == "write") {
    short_writes_ = {.left = count == 4 ? number_of(words[3]) : 1, .value = number_of(words[2])};
  } else {
    reject(line, "fault: fail, short, delay, jitter or clear, and what belongs to it");
  }
}

void FaultPlan::fail(const std::vector<std::string>& words) {
  const Operation operation = operation_of(words[1]);
  const int error = error_of(words[2]);
  if (operation == Operation::kSync && words.size() <= 4) {
    failing_[operation] = {.left = words.size() == 4 ? number_of(words[3]) : 1,
                           .value = static_cast<std::uint64_t>(error)};
  } else if (operation != Operation::kSync && words.size() == 5) {
    ranges_.push_back({operation, error, number_of(words[3]), number_of(words[4])});
  } else {
    reject(words[0] + " " + words[1], "fault with so many words");
  }
}

void FaultPlan::clear() {
  ranges_.clear();
  failing_.clear();
  short_writes_ = {};
  delays_.clear();
  jitters_.clear();
}

Verdict FaultPlan::judge(Operation operation, std::uint64_t offset, std::uint64_t length) {
  const std::scoped_lock lock(mutex_);
  Verdict verdict;
  if (const auto it = delays_.find(operation); it != delays_.end()) verdict.delay = it->second;
  if (const auto it = jitters_.find(operation); it != jitters_.end()) {
    verdict.delay +=
        std::chrono::milliseconds(random_() % (static_cast<std::uint64_t>(it->second.count()) + 1));
  }
  if (Countdown& failing = failing_[operation]; failing.left > 0) {
    --failing.left;
    verdict.error = static_cast<int>(failing.value);
  }
  const auto bad = std::ranges::find_if(ranges_, [&](const BadRange& range) {
    return range.operation == operation && offset < range.offset + range.length &&
           range.offset < offset + length;
  });
  if (bad != ranges_.end()) verdict.error = bad->error;
  if (operation == Operation::kWrite && short_writes_.left > 0 && length > short_writes_.value) {
    --short_writes_.left;
    verdict.at_most = short_writes_.value;
  }
  return verdict;
}

}  // namespace rdmablk::testing
