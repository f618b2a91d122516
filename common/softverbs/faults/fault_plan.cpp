#include <infiniband/verbs.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "common/softverbs/faults/fault.h"
#include "common/softverbs/verbs/limits.h"

namespace softverbs {
namespace {

constexpr uint64_t kLongestUs = 600'000'000;

constexpr std::array<std::pair<std::string_view, ibv_wc_status>, 8> kStatuses{{
    {"loc-len", IBV_WC_LOC_LEN_ERR},
    {"loc-qp-op", IBV_WC_LOC_QP_OP_ERR},
    {"loc-prot", IBV_WC_LOC_PROT_ERR},
    {"rem-inv-req", IBV_WC_REM_INV_REQ_ERR},
    {"rem-access", IBV_WC_REM_ACCESS_ERR},
    {"rem-op", IBV_WC_REM_OP_ERR},
    {"retry-exc", IBV_WC_RETRY_EXC_ERR},
    {"rnr-retry-exc", IBV_WC_RNR_RETRY_EXC_ERR},
}};

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(why);
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

template <typename Entries>
std::string names(const Entries& entries) {
  std::string all;
  for (const auto& [name, value] : entries) all += std::string(name) + ", ";
  return all + "any";
}

/// \return nothing for "any".
template <typename Entries>
auto choose(const Entries& entries, std::string_view key, std::string_view value)
    -> std::optional<decltype(entries[0].second)> {
  if (value == "any") return std::nullopt;
  for (const auto& [name, choice] : entries) {
    if (name == value) return choice;
  }
  refuse(std::string(key) + " is " + quoted(value) + "; it takes " + names(entries));
}

uint64_t number(std::string_view key, std::string_view text, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    refuse(std::string(key) + " is " + quoted(text) + "; it takes a number up to " +
           std::to_string(most));
  }
  return value;
}

void set_rate(FaultRule& rule, std::string_view text) {
  const size_t slash = text.find('/');
  rule.strikes = number("rate", text.substr(0, slash), UINT32_MAX);
  rule.chances =
      slash == std::string_view::npos ? 1 : number("rate", text.substr(slash + 1), UINT32_MAX);
  if (rule.chances == 0 || rule.strikes > rule.chances) {
    refuse("rate is " + quoted(text) + "; it takes a fraction up to 1, as in 1/500");
  }
}

std::optional<CmEvent> choose_event(std::string_view text) {
  std::array<std::pair<std::string_view, CmEvent>, kCmEventNames.size()> events;
  for (size_t i = 0; i < events.size(); ++i)
    events[i] = {kCmEventNames[i], static_cast<CmEvent>(i)};
  return choose(events, "event", text);
}

bool takes_time(Fault fault) {
  return fault == Fault::kDelay || fault == Fault::kLateWrite || fault == Fault::kStall;
}

/// \return the index of a device's name.
int device_index(std::string_view text) {
  constexpr std::string_view kPrefix = "soft";
  if (!text.starts_with(kPrefix)) {
    refuse("device is " + quoted(text) + "; it takes soft0, soft1, ...");
  }
  return static_cast<int>(number("device", text.substr(kPrefix.size()), kMaxDevices - 1));
}

/// What outages do not take: they last.
bool says_how_often(std::string_view key) {
  return key == "rate" || key == "after" || key == "max";
}

void set_key(FaultRule& rule, std::string_view key, std::string_view value) {
  if (is_outage(rule.fault) && says_how_often(key)) {
    refuse(std::string(name_of(rule.fault)) + " does not take " + quoted(key) +
           ": it lasts as long as the plan has it");
  } else if (key == "rate") {
    set_rate(rule, value);
  } else if (key == "after") {
    rule.after = number(key, value, UINT64_MAX);
  } else if (key == "max") {
    rule.most = number(key, value, UINT64_MAX);
  } else if (key == "program") {
    rule.program = value;
  } else if (key == "device" && is_outage(rule.fault)) {
    rule.device = device_index(value);
  } else if (key == "us" && takes_time(rule.fault)) {
    rule.time = std::chrono::microseconds(number(key, value, kLongestUs));
  } else if (key == "ms" && takes_time(rule.fault)) {
    rule.time = std::chrono::milliseconds(number(key, value, kLongestUs / 1000));
  } else if (key == "status" && rule.fault == Fault::kError) {
    rule.status = choose(kStatuses, key, value);
  } else if (key == "event" && rule.fault == Fault::kCmLost) {
    rule.event = choose_event(value);
  } else {
    refuse(std::string(name_of(rule.fault)) + " does not take " + quoted(key));
  }
}

FaultRule parse_rule(std::string_view item) {
  size_t end = std::min(item.find(':'), item.size());
  const std::string_view name = item.substr(0, end);
  const auto* const known = std::find(kFaultNames.begin(), kFaultNames.end(), name);
  if (known == kFaultNames.end()) {
    std::string all;
    for (const std::string_view each : kFaultNames) all += std::string(each) + ", ";
    refuse("there is no fault " + quoted(name) + "; there are " + all +
           "and log=FILE, cm-timeout=MS");
  }
  FaultRule rule;
  rule.fault = static_cast<Fault>(known - kFaultNames.begin());
  while (end < item.size()) {
    item.remove_prefix(end + 1);
    end = std::min(item.find(':'), item.size());
    const std::string_view setting = item.substr(0, end);
    const size_t equals = std::min(setting.find('='), setting.size());
    if (equals == setting.size()) refuse(quoted(setting) + " has no value; it takes KEY=VALUE");
    set_key(rule, setting.substr(0, equals), setting.substr(equals + 1));
  }
  return rule;
}

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

void add_item(FaultPlan& plan, std::string_view item) {
  constexpr std::string_view kLog = "log=";
  constexpr std::string_view kTimeout = "cm-timeout=";
  if (item.starts_with(kLog)) {
    plan.log = item.substr(kLog.size());
  } else if (item.starts_with(kTimeout)) {
    plan.cm_timeout = std::chrono::milliseconds(
        number("cm-timeout", item.substr(kTimeout.size()), kLongestUs / 1000));
  } else {
    plan.rules.push_back(parse_rule(item));
  }
}

}  // namespace

FaultPlan FaultPlan::parse(std::string_view text) {
  FaultPlan plan;
  while (!text.empty()) {
    const size_t line_end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, line_end);
    text.remove_prefix(std::min(line_end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    while (!line.empty()) {
      const size_t end = std::min(line.find(','), line.size());
      const std::string_view item = trimmed(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
      if (!item.empty()) add_item(plan, item);
    }
  }
  return plan;
}

uint64_t parse_seed(std::string_view text) {
  if (text.empty()) return 0;
  uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error != std::errc() || stopped != end) {
    refuse("SOFTVERBS_SEED is " + quoted(text) + "; it takes a number");
  }
  return seed;
}

}  // namespace softverbs
