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
#include "common/nearest_word.h"
#include "common/units.h"
#include "fuse/generic_options.h"
#include "fuse/options.h"
#include "initiator/recovery_arguments.h"

namespace rdmablk::fuse {

namespace {

/// Microseconds.
constexpr std::uint64_t kMaxSpin = 1'000'000;

/// Milliseconds.
constexpr std::uint64_t kMaxSlow = 3'600'000;

/// Beside these there are those of initiator::ConnectionOptions.
constexpr auto kWithValue = std::to_array<std::string_view>(
    {"uid", "gid", "mode", "fsname", "workers", "queue_depth", "spin", "slow", "reconnect_delay",
     "fail_fast", "give_up", "keyfile", "client", "mask_features", "metrics"});

/// Those beside them that a misspelt word may have been meant for.
constexpr auto kFlags =
    std::to_array<std::string_view>({"ro", "rw", "allow_other", "take_over", "_netdev", "noauto",
                                     "nofail", "noatime", "noexec", "defaults"});

template <typename List>
bool contains(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool takes_value(std::string_view name) {
  return contains(kWithValue, name) || initiator::ConnectionOptions::has(name);
}

/// The names of all that take a value.
std::vector<std::string_view> names_with_value() {
  std::vector<std::string_view> names(kWithValue.begin(), kWithValue.end());
  names.insert(names.end(), {"cm", "path"});
  for (const cm::SettingOption& option : cm::setting_options()) names.emplace_back(option.name);
  return names;
}

}  // namespace

std::vector<std::string> split_mount_options(const std::string& text) {
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

namespace {

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
  } else {
    const GenericOption kind = generic_option(name, false);
    if (kind == GenericOption::passed_on) {
      options.kernel_flags += (options.kernel_flags.empty() ? "" : ",") + name;
    }
    return kind != GenericOption::none;
  }
  return true;
}

[[noreturn]] void refuse(const std::string& name) {
  if (takes_value(name)) {
    throw UsageError(fmt::format("mount option {} takes a value: {}=...", name, name));
  }
  const auto with_value = names_with_value();
  auto known = with_value;
  known.insert(known.end(), kFlags.begin(), kFlags.end());
  const std::string meant = suggestion(name, known);
  if (!meant.empty()) throw UsageError(fmt::format("unknown mount option '{}'{}", name, meant));
  throw UsageError(
      fmt::format("unknown mount option '{}'; there are ro, rw, allow_other, take_over, {}= and "
                  "those of mount(8)",
                  name, fmt::join(with_value, "=, ")));
}

bool is_known(const std::string& name, bool has_value) {
  MountOptions unused;
  return takes_value(name) || set_flag(unused, name) ||
         generic_option(name, has_value) != GenericOption::none;
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
  } else if (initiator::ConnectionOptions::has(name)) {
    connection.set(name, cm::Spelling::mount_option, value);
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
  for (const std::string& word : split_mount_options(text)) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const bool has_value = equals != std::string::npos;
    if (word.empty() || (has_value && generic_option(name, true) == GenericOption::ignored)) {
      continue;
    }
    if (is_sloppy && !is_known(name, has_value)) {
      unknown.push_back(name);
    } else if (has_value) {
      set(name, word.substr(equals + 1));
    } else if (!set_flag(*this, name)) {
      refuse(name);
    }
  }
}

}  // namespace rdmablk::fuse
