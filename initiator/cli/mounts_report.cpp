#include "initiator/cli/mounts_report.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/units.h"
#include "initiator/cli/text_table.h"
#include "initiator/cli/time_text.h"
#include "initiator/cli/timeouts_report.h"

namespace rdmablk::cli {
namespace {

using Kind = MountAnswer::Kind;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// As JSON has it.
std::string state_name(const MountAnswer& answer) {
  switch (answer.kind) {
    case Kind::answered:
      return phase_name(answer.status.phase);
    case Kind::silent:
      return "not_answering";
    case Kind::dead:
      return "dead";
    case Kind::not_permitted:
      return "not_permitted";
    case Kind::other_version:
      return "other_version";
    case Kind::failed:
      return "failed";
  }
  return "failed";
}

/// For people.
std::string state_text(const MountAnswer& answer) {
  switch (answer.kind) {
    case Kind::silent:
      return "not answering";
    case Kind::not_permitted:
      return "not permitted";
    case Kind::other_version:
      return "other version";
    case Kind::failed:
      return errno_text(answer.error);
    default:
      return state_name(answer);
  }
}

std::string uri_of(const MountReport& report) {
  const auto* const uri = static_cast<const char*>(report.answer.activity.uri);
  return *uri == '\0' ? report.mount.source : uri;
}

/// With as many digits as matter.
std::string age_text(std::uint64_t in_flight, microseconds age) {
  constexpr std::chrono::seconds kLong{10};
  constexpr double kSecond = 999.5;  // rounded to three digits
  if (in_flight == 0) return "-";
  if (age >= kLong) return time_text(std::chrono::duration_cast<std::chrono::seconds>(age));
  const double passed = std::chrono::duration<double, std::milli>(age).count();
  if (passed >= kSecond) return fmt::format("{:.2f} s", passed / 1000);
  return fmt::format("{:.3g} ms", passed);
}

std::vector<std::string> row(const MountReport& report) {
  const auto& [mount, answer] = report;
  std::vector<std::string> cells{mount.path, uri_of(report), state_text(answer)};
  if (answer.kind != Kind::answered) {
    cells.resize(9, "-");
    return cells;
  }
  const auto& [status, activity] = std::tie(answer.status, answer.activity);
  const auto since = milliseconds(status.phase_time);
  cells.push_back(time_text(std::chrono::duration_cast<std::chrono::seconds>(since)));
  cells.push_back(fmt::format("{} x {}", activity.workers, activity.queue_depth));
  cells.push_back(std::to_string(activity.in_flight));
  cells.push_back(age_text(activity.in_flight, microseconds(activity.oldest_age)));
  cells.push_back(std::to_string(status.reconnects));
  cells.push_back(format_size(activity.size));
  return cells;
}

Json text_or_null(const char* text) {
  return *text == '\0' ? Json() : Json(text);
}

std::span<const mount_control::Paths::Path> paths_of(const MountAnswer& answer) {
  const auto& paths = answer.paths;
  if (answer.kind != Kind::answered || paths.version != mount_control::Paths::kVersion) return {};
  return {static_cast<const mount_control::Paths::Path*>(paths.paths), paths.count};
}

/// Null: its rdmablk-fuse does not say.
Json paths_json(const MountAnswer& answer) {
  if (answer.paths.version != mount_control::Paths::kVersion) return {};
  Json list = Json::array();
  for (const auto& path : paths_of(answer)) {
    list.push_back({{"address", static_cast<const char*>(path.address)},
                    {"device", text_or_null(static_cast<const char*>(path.device))},
                    {"up", path.is_up != 0},
                    {"session", path.is_session != 0},
                    {"queues", path.queues},
                    {"failures", path.failures},
                    {"reads", path.reads},
                    {"writes", path.writes},
                    {"others", path.others},
                    {"bytes_read", path.bytes_read},
                    {"bytes_written", path.bytes_written},
                    {"last_error", text_or_null(static_cast<const char*>(path.last_error))}});
  }
  return list;
}

void add_figures(Json& json, const MountAnswer& answer) {
  const auto& [status, activity] = std::tie(answer.status, answer.activity);
  json["state_time_ms"] = status.phase_time;
  json["size_bytes"] = activity.size;
  json["queues"] = activity.workers;
  json["queue_depth"] = activity.queue_depth;
  json["in_flight"] = activity.in_flight;
  json["waiting"] = activity.waiting;
  json["oldest_request_us"] = activity.in_flight > 0 ? Json(activity.oldest_age) : Json();
  json["unsynced_writes"] = activity.unsynced != 0;
  json["reconnects"] = status.reconnects;
  json["last_loss"] = text_or_null(status.reason);
  json["last_error"] = text_or_null(status.last_error);
  json["paths"] = paths_json(answer);
}

/// Of the mounts that have more than one; empty when none has.
std::string paths_text(std::span<const MountReport> reports) {
  TextTable table(
      {"MOUNT POINT", "PATH", "DEVICE", "STATE", "QUEUES", "READ", "WRITTEN", "FAILURES", "WHY"});
  for (const std::size_t column : {4U, 5U, 6U, 7U}) table.align_right(column);
  bool is_empty = true;
  for (const MountReport& report : reports) {
    const auto paths = paths_of(report.answer);
    if (paths.size() < 2) continue;
    is_empty = false;
    for (const auto& path : paths) {
      const auto* const device = static_cast<const char*>(path.device);
      const char* const state = path.is_up != 0 ? "up" : "down";
      table.add({report.mount.path, static_cast<const char*>(path.address),
                 *device == '\0' ? "-" : device, state, std::to_string(path.queues),
                 format_size(path.bytes_read), format_size(path.bytes_written),
                 std::to_string(path.failures), static_cast<const char*>(path.last_error)});
    }
  }
  return is_empty ? "" : "\n" + table.text();
}

Json describe(const MountReport& report) {
  Json json;
  json["mount_point"] = report.mount.path;
  json["source"] = report.mount.source;
  json["uri"] = text_or_null(report.answer.activity.uri);
  json["state"] = state_name(report.answer);
  if (report.answer.kind == Kind::answered) {
    add_figures(json, report.answer);
    return json;
  }
  for (const char* const key :
       {"state_time_ms", "size_bytes", "queues", "queue_depth", "in_flight", "waiting",
        "oldest_request_us", "unsynced_writes", "reconnects", "last_loss", "last_error", "paths"}) {
    json[key] = nullptr;
  }
  return json;
}

}  // namespace

std::string mounts_text(std::span<const MountReport> reports) {
  TextTable table({"MOUNT POINT", "SOURCE", "STATE", "SINCE", "QUEUES", "IN FLIGHT", "OLDEST",
                   "RECONNECTS", "SIZE"});
  for (const std::size_t column : {5U, 6U, 7U, 8U}) table.align_right(column);
  for (const MountReport& report : reports) table.add(row(report));
  return table.text() + paths_text(reports);
}

Json mounts_json(std::span<const MountReport> reports) {
  Json document = new_document();
  document["mounts"] = Json::array();
  for (const MountReport& report : reports) document["mounts"].push_back(describe(report));
  return document;
}

}  // namespace rdmablk::cli
