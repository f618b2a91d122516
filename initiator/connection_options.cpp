#include "initiator/connection_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "initiator/memory_keys.h"

namespace rdmablk::initiator {
namespace {

constexpr std::string_view kMethod = "cm";
constexpr std::string_view kPath = "path";

/// A session may have a device for each.
constexpr std::size_t kMaxPaths = kMaxDevices;

}  // namespace

bool ConnectionOptions::has(std::string_view name) noexcept {
  const auto all = cm::setting_options();
  return name == kMethod || name == kPath ||
         std::any_of(all.begin(), all.end(),
                     [&](const cm::SettingOption& each) { return each.name == name; });
}

void ConnectionOptions::set(std::string_view name, cm::Spelling spelling,
                            const std::string& value) {
  if (name == kMethod) {
    method = cm::read_method(cm::spelled(name, spelling), value);
  } else if (name == kPath) {
    parse_host_port(value);
    paths.push_back(value);
  } else {
    cm::set(settings, name, spelling, value);
  }
}

void ConnectionOptions::check(cm::Spelling spelling) const {
  cm::check(settings, method, spelling);
  if (paths.size() >= kMaxPaths) {
    throw UsageError(
        fmt::format("a target has at most {} paths, that of its URI included; {} gives {}",
                    kMaxPaths, cm::spelled(kPath, spelling), paths.size()));
  }
}

void ConnectionOptions::apply_to(SessionOptions& options) const {
  options.method = method;
  options.connections = settings;
  for (const std::string& path : paths) {
    options.paths.push_back(parse_host_port(path, default_port()));
  }
}

std::uint16_t default_port_of(std::string_view mount_options) {
  constexpr std::string_view kTcp = "cm=tcp";
  cm::Method method = cm::default_method();
  while (!mount_options.empty()) {
    auto end = std::min(mount_options.find(','), mount_options.size());
    // One behind a backslash belongs to a value.
    while (end < mount_options.size() && end > 0 && mount_options[end - 1] == '\\') {
      end = std::min(mount_options.find(',', end + 1), mount_options.size());
    }
    const auto word = mount_options.substr(0, end);
    if (word.starts_with("cm=")) method = word == kTcp ? cm::Method::tcp : cm::Method::rdmacm;
    mount_options.remove_prefix(std::min(end + 1, mount_options.size()));
  }
  return cm::default_port(method);
}

}  // namespace rdmablk::initiator
