#include "initiator/cli/top_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/counted.h"
#include "initiator/cli/timeouts_report.h"

namespace rdmablk::cli {
namespace {

std::optional<std::uint64_t> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

/// A name goes to a terminal.
std::string name_of(const Json& object) {
  const auto found = object.find("name");
  std::string name = found != object.end() && found->is_string() ? found->get<std::string>() : "?";
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
  return name;
}

std::optional<protocol::Use> use_of(const Json& object) {
  const auto found = object.find("use");
  if (found == object.end() || !found->is_object()) return std::nullopt;
  constexpr std::array kKeys{"reads",      "writes",        "flushes", "others",
                             "bytes_read", "bytes_written", "errors"};
  auto fields = protocol::Use{}.fields();
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = number(*found, kKeys[i]).value_or(0);
  return protocol::Use::of(fields);
}

TopItem item_of(const MountReport& report) {
  TopItem item;
  item.name = report.mount.path;
  const MountAnswer& answer = report.answer;
  if (answer.kind != MountAnswer::Kind::answered) {
    item.state = "no answer";
    return item;
  }
  item.state = phase_name(answer.status.phase);
  item.size = answer.activity.size;
  item.in_flight = answer.activity.in_flight;
  if (answer.use.version != mount_control::Use::kVersion) return item;
  const auto& use = answer.use;
  item.use = protocol::Use{use.reads,      use.writes,        use.flushes, use.others,
                           use.bytes_read, use.bytes_written, use.errors};
  return item;
}

}  // namespace

std::vector<TopItem> top_exports(const Json& exports) {
  std::vector<TopItem> items;
  if (!exports.is_array()) return items;
  for (const Json& one : exports) {
    if (!one.is_object()) continue;
    const auto readers = number(one, "readers").value_or(0);
    const auto writers = number(one, "writers").value_or(0);
    items.push_back({name_of(one), fmt::format("{} read, {} write", readers, writers),
                     number(one, "size_bytes"), std::nullopt, use_of(one)});
  }
  return items;
}

std::vector<TopItem> top_paths(const std::vector<MountReport>& mounts) {
  std::vector<TopItem> items;
  for (const MountReport& mount : mounts) {
    const auto& paths = mount.answer.paths;
    if (paths.version != mount_control::Paths::kVersion || paths.count < 2) continue;
    for (const auto& path : std::span(paths.paths).first(paths.count)) {
      TopItem item;
      item.name =
          fmt::format("{} over {}", mount.mount.path, static_cast<const char*>(path.address));
      item.state = path.is_up != 0 ? fmt::format("{}, {}", static_cast<const char*>(path.device),
                                                 counted(path.queues, "queue"))
                                   : "down";
      item.use = protocol::Use{.reads = path.reads,
                               .writes = path.writes,
                               .others = path.others,
                               .bytes_read = path.bytes_read,
                               .bytes_written = path.bytes_written};
      items.push_back(std::move(item));
    }
  }
  return items;
}

std::vector<TopItem> top_mounts(const std::vector<MountReport>& mounts) {
  std::vector<TopItem> items;
  for (const MountReport& mount : mounts) items.push_back(item_of(mount));
  return items;
}

}  // namespace rdmablk::cli
