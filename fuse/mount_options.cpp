#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/export_name.h"
#include "common/metrics/metrics_address.h"
#include "common/units.h"
#include "fuse/options.h"
#include "initiator/recovery_arguments.h"

namespace rdmablk::fuse {

namespace {

/// Microseconds.
constexpr std::uint64_t kMaxSpin = 1'000'000;

/// Milliseconds.
constexpr std::uint64_t kMaxSlow = 3'600'000;

/// Options of mount(8) and fstab(5) that other programs act on, or that are so anyway.
constexpr std::array kIgnored{"_netdev", "async",       "auto",    "atime",   "defaults",
                              "dev",     "diratime",    "exec",    "group",   "loud",
                              "noauto",  "nodev",       "nofail",  "nogroup", "noowner",
                              "nosuid",  "nouser",      "nousers", "owner",   "relatime",
                              "silent",  "strictatime", "suid",    "user",    "users"};

/// Those that the kernel is told.
constexpr std::array kPassedOn{"dirsync", "noatime", "nodiratime", "noexec", "sync"};

constexpr std::array kWithValue{"uid",         "gid",     "mode",   "fsname",          "workers",
                                "queue_depth", "spin",    "slow",   "reconnect_delay", "fail_fast",
                                "give_up",     "keyfile", "client", "mask_features",   "metrics"};

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      words.back() += text[++i];
    } else if (text[i] == ',') {
      words.emplace_back();
    } else {
      words.back() += text[i];
    }
  }
  return words;
}

std::uint64_t number(const std::string& name, const std::string& value, std::uint64_t least,
                     std::uint64_t most) {
  const auto parsed = parse_number(value, most);
  if (!parsed || *parsed < least) {
    throw UsageError(
        fmt::format("option {}={}: it takes a number from {} to {}", name, value, least, most));
  }
  return *parsed;
}

unsigned id(const std::string& name, const std::string& value) {
  return static_cast<unsigned>(number(name, value, 0, std::numeric_limits<uid_t>::max() - 1));
}

unsigned count(const std::string& name, const std::string& value, unsigned most) {
  return static_cast<unsigned>(number(name, value, 1, most));
}

std::chrono::microseconds microseconds(const std::string& name, const std::string& value) {
  return std::chrono::microseconds(number(name, value, 0, kMaxSpin));
}

/// A daemon changes its directory.
std::string absolute_path(const std::string& name, const std::string& value) {
  if (value.empty()) throw UsageError(fmt::format("mount option {}= lacks its value", name));
  std::error_code error;
  const auto path = std::filesystem::absolute(value, error);
  return error ? value : path.string();
}

std::string client_name(const std::string& value) {
  if (is_export_name(value)) return value;
  throw UsageError(
      fmt::format("option client={}: a client's name has up to {} letters, digits, '.', '_' and "
                  "'-', the first a letter or digit",
                  value, kMaxExportName));
}

mode_t mode_bits(const std::string& value) {
  unsigned bits = 0;
  const char* const end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, bits, 8);
  if (value.empty() || error != std::errc() || rest != end || bits > 0777U) {
    throw UsageError(
        fmt::format("option mode={}: it takes permission bits in octal, such as mode=0640", value));
  }
  return bits;
}

bool set_flag(MountOptions& options, const std::string& name) {
  if (name == "ro" || name == "rw") {
    options.read_only = name == "ro";
  } else if (name == "allow_other") {
    options.allow_other = true;
  } else if (name == "take_over") {
    options.take_over = true;
  } else if (contains(kPassedOn, name)) {
    options.kernel_flags += (options.kernel_flags.empty() ? "" : ",") + name;
  } else {
    return contains(kIgnored, name);
  }
  return true;
}

bool is_for_other_programs(std::string_view name) {
  return name.starts_with("x-") || name.starts_with("X-") || name == "comment";
}

[[noreturn]] void refuse(const std::string& name) {
  if (contains(kWithValue, name)) {
    throw UsageError(fmt::format("mount option {} takes a value: {}=...", name, name));
  }
  throw UsageError(
      fmt::format("unknown mount option '{}'; there are ro, rw, allow_other, take_over, {}= and "
                  "those of mount(8)",
                  name, fmt::join(kWithValue, "=, ")));
}

}  // namespace

void MountOptions::set(const std::string& name, const std::string& value) {
  if (name == "uid") {
    uid = id(name, value);
  } else if (name == "gid") {
    gid = id(name, value);
  } else if (name == "mode") {
    mode = mode_bits(value);
  } else if (name == "fsname") {
    if (value.empty()) throw UsageError("mount option fsname= lacks its value");
    fsname = value;
  } else if (name == "keyfile") {
    key_file = absolute_path(name, value);
  } else if (name == "client") {
    client = client_name(value);
  } else if (name == "workers") {
    workers = count(name, value, kMaxWorkers);
  } else if (name == "queue_depth") {
    queue_depth = count(name, value, kMaxDepth);
  } else if (name == "spin") {
    spin = microseconds(name, value);
  } else if (name == "slow") {
    slow = std::chrono::milliseconds(number(name, value, 0, kMaxSlow));
  } else if (name == "metrics") {
    metrics = rdmablk::metrics::parse_metrics_address("option " + name, value);
  } else if (name == "reconnect_delay") {
    recovery.reconnect_delay = initiator::read_reconnect_delay("option " + name, value);
  } else if (name == "fail_fast") {
    recovery.fail_fast = initiator::read_recovery_limit("option " + name, value);
  } else if (name == "give_up") {
    recovery.give_up = initiator::read_recovery_limit("option " + name, value);
  } else if (name == "mask_features") {
    features = protocol::kKnownFeatures.without(protocol::parse_features("option " + name, value));
  } else if (MountOptions ignored; set_flag(ignored, name)) {
    throw UsageError(fmt::format("mount option {} takes no value, and has '{}'", name, value));
  } else {
    refuse(name);
  }
}

std::optional<initiator::Credentials> MountOptions::credentials() const {
  if (!key_file) return std::nullopt;
  return initiator::Credentials(*key_file, client.value_or(""));
}

void MountOptions::parse(const std::string& text) {
  for (const std::string& word : split(text)) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (word.empty() || is_for_other_programs(name)) continue;
    if (equals != std::string::npos) {
      set(name, word.substr(equals + 1));
    } else if (!set_flag(*this, name)) {
      refuse(name);
    }
  }
}

}  // namespace rdmablk::fuse
