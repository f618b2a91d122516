#include "common/softverbs/faults/fault_injector.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

namespace softverbs {
namespace {

/// SplitMix64: one step of a good mixing of bits.
uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

uint64_t mix(std::string_view text) {
  uint64_t value = 0;
  for (const char letter : text) value = mix(value ^ static_cast<unsigned char>(letter));
  return value;
}

uint64_t read_seed() {
  const char* const text = std::getenv("SOFTVERBS_SEED");
  return parse_seed(text != nullptr ? text : "");
}

struct Instance {
  FaultInjector* injector = nullptr;
  bool refused = false;
};

Instance make_instance() {
  const char* specification = std::getenv("SOFTVERBS_FAULTS");
  if (specification == nullptr || *specification == '\0') return {};
  try {
    return {new FaultInjector(specification, read_seed()), false};
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "softverbs: SOFTVERBS_FAULTS: %s; there is no device\n", error.what());
    return {nullptr, true};
  }
}

bool concerns_us(const FaultRule& rule) {
  return rule.program.empty() || rule.program == program_invocation_short_name;
}

const Instance& instance() {
  static const Instance made = make_instance();
  return made;
}

}  // namespace

FaultInjector* FaultInjector::get() {
  return instance().injector;
}

bool FaultInjector::refused() {
  return instance().refused;
}

FaultInjector::FaultInjector(std::string specification, uint64_t seed)
    : source_(std::move(specification)), seed_(mix(seed) ^ mix(program_invocation_short_name)) {
  adopt(source_.read());
}

std::optional<Strike> FaultInjector::strike(Fault fault) {
  return strike(fault, std::nullopt);
}

std::optional<Strike> FaultInjector::strike(CmEvent event) {
  return strike(Fault::kCmLost, event);
}

std::optional<Strike> FaultInjector::strike(Fault fault, std::optional<CmEvent> event) {
  const std::lock_guard lock(mutex_);
  refresh();
  for (uint64_t number = 0; number < rules_.size(); ++number) {
    Counted& counted = rules_[number];
    const FaultRule& rule = counted.rule;
    if (rule.fault != fault || !concerns_us(rule) || (rule.event && event && *rule.event != *event))
      continue;
    if (auto strike = take_chance(counted, number)) return strike;
  }
  return std::nullopt;
}

std::optional<Strike> FaultInjector::take_chance(Counted& counted, uint64_t number) {
  const FaultRule& rule = counted.rule;
  const uint64_t chance = counted.chances++;
  if (chance < rule.after || counted.strikes >= rule.most) return std::nullopt;
  const uint64_t drawn = mix(mix(mix(seed_ ^ version_) ^ number) ^ chance);
  if (drawn % rule.chances >= rule.strikes) return std::nullopt;
  ++counted.strikes;
  return Strike{rule, mix(drawn)};
}

bool FaultInjector::expects(Fault fault) {
  const std::lock_guard lock(mutex_);
  refresh();
  for (const Counted& counted : rules_) {
    if (counted.rule.fault == fault && counted.rule.strikes != 0) return true;
  }
  return false;
}

std::chrono::milliseconds FaultInjector::cm_timeout() {
  const std::lock_guard lock(mutex_);
  refresh();
  return cm_timeout_;
}

std::vector<Fault> FaultInjector::outages(int device) {
  const std::lock_guard lock(mutex_);
  refresh(true);
  std::vector<Fault> lasting;
  for (const auto& [rule, chances, strikes] : rules_) {
    const bool hits = is_outage(rule.fault) && rule.device.value_or(device) == device;
    if (hits && concerns_us(rule)) lasting.push_back(rule.fault);
  }
  return lasting;
}

std::string FaultInjector::plan_file() const {
  return source_.is_file() ? source_.path() : std::string();
}

void FaultInjector::refresh(bool at_once) {
  std::optional<FaultPlan> plan = source_.changed(at_once);
  if (!plan) return;
  ++version_;
  try {
    adopt(std::move(*plan));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "softverbs: SOFTVERBS_FAULTS: %s; nothing is logged\n", error.what());
  }
}

void FaultInjector::adopt(FaultPlan plan) {
  rules_.clear();
  for (FaultRule& rule : plan.rules) rules_.push_back({rule});
  cm_timeout_ = plan.cm_timeout;
  if (plan.log == log_path_) return;
  log_path_ = plan.log;
  log_.reset();
  if (log_path_.empty()) return;
  log_.reset(open(log_path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!log_) {
    throw std::invalid_argument("cannot write " + log_path_ + ": " + std::strerror(errno));
  }
}

void FaultInjector::log(Fault fault, std::string_view detail) {
  const std::lock_guard lock(mutex_);
  if (!log_) return;
  std::array<char, 256> line;
  const std::string_view name = name_of(fault);
  const int length =
      std::snprintf(line.data(), line.size(), "%s %d %.*s %.*s\n", program_invocation_short_name,
                    static_cast<int>(getpid()), static_cast<int>(name.size()), name.data(),
                    static_cast<int>(detail.size()), detail.data());
  // One write(2) to a file that is appended to: lines of several processes do not mix, and a
  // process that is killed leaves whole lines.
  [[maybe_unused]] const ssize_t written =
      write(log_.get(), line.data(), std::min(static_cast<size_t>(length), line.size() - 1));
}

}  // namespace softverbs
