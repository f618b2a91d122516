#include "target/admin_reply.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/hex.h"
#include "common/protocol/labels.h"
#include "common/uuid.h"
#include "target/export_use_figures.h"

namespace rdmablk::target {
namespace {

/// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json reply_to(const std::string& id) {
  Json reply{{"version", kVersion}};
  reply["id"] = Json::parse(id, nullptr, false);
  return reply;
}

/// Paths may be any bytes; what is no UTF-8 is shown with a replacement.
std::string line(const Json& reply) {
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

Json number_or_null(std::uint64_t number) {
  return number == 0 ? Json() : Json(number);
}

const char* origin_name(ExportOrigin origin) {
  switch (origin) {
    case ExportOrigin::command_line:
      return "command_line";
    case ExportOrigin::configuration:
      return "configuration";
    case ExportOrigin::run_time:
      return "run_time";
  }
  return "unknown";
}

Json describe(const protocol::Use& use) {
  return Json{{"reads", use.reads},           {"writes", use.writes},
              {"flushes", use.flushes},       {"others", use.others},
              {"bytes_read", use.bytes_read}, {"bytes_written", use.bytes_written},
              {"errors", use.errors}};
}

Json describe(const ExportStatus& status) {
  const ExportSpec& spec = status.spec;
  Json json;
  json["name"] = spec.name;
  json["type"] = label_of(spec.kind);
  json["size_bytes"] = status.size;
  json["read_only"] = spec.read_only;
  json["shared"] = spec.shared;
  json["file"] = text_or_null(spec.path);
  json["save"] = text_or_null(spec.save);
  json["huge_page_bytes"] = number_or_null(spec.huge_page);
  json["origin"] = origin_name(status.origin);
  json["uuid"] = format_uuid(status.uuid);
  json["generation"] = hex(status.generation);
  json["lease"] = number_or_null(status.lease);
  json["registered_bytes"] = status.registered_bytes;
  json["readers"] = status.readers;
  json["writers"] = status.writers;
  json["leaving"] = status.is_leaving;
  json["use"] = describe(use_of(status));
  json["use_counted_by"] = is_served(status) ? "target" : "clients";
  return json;
}

Json describe(const SessionStatus& status) {
  Json json;
  json["session"] = status.id;
  json["address"] = status.address;
  json["client"] = text_or_null(status.client);
  json["device"] = status.device;
  json["age_s"] = status.age.count();
  json["silence_ms"] = status.silence.count();
  json["attachments"] = Json::array();
  for (const AttachmentStatus& attachment : status.attachments) {
    json["attachments"].push_back(Json{{"export", attachment.export_name},
                                       {"access", label_of(attachment.access)},
                                       {"queues", attachment.queues}});
  }
  return json;
}

/// Copies of pointers, in order.
template <typename Item, typename Key>
std::vector<const Item*> sorted(std::span<const Item> items, Key key) {
  std::vector<const Item*> order;
  order.reserve(items.size());
  for (const Item& item : items) order.push_back(&item);
  std::sort(order.begin(), order.end(),
            [&](const Item* a, const Item* b) { return key(*a) < key(*b); });
  return order;
}

void add_counts(Json& json, const Counts& counts) {
  json["sessions"] = counts.sessions;
  json["attachments"] = counts.attachments;
  json["io_queues"] = counts.io_queues;
  json["draining_queues"] = counts.draining;
  json["leases"] = counts.leases;
  json["registered_bytes"] = counts.footprint.bytes;
  json["queue_pairs"] = counts.footprint.queue_pairs;
  json["memory_regions"] = counts.footprint.memory_regions;
  json["protection_domains"] = counts.footprint.protection_domains;
  json["open_fds"] = counts.open_fds;
}

}  // namespace

std::string done_reply(const std::string& id) {
  Json reply = reply_to(id);
  reply["done"] = true;
  return line(reply);
}

std::string error_reply(const std::string& id, const std::string& reason, bool is_usage) {
  Json reply = reply_to(id);
  reply["error"] = reason;
  if (is_usage) reply["usage"] = true;
  return line(reply);
}

std::string status_reply(const std::string& id, const TargetFacts& facts, const Counts& counts,
                         std::span<const ExportStatus> exports,
                         std::chrono::steady_clock::time_point now) {
  Json status;
  status["program_version"] = RDMABLK_VERSION;
  status["pid"] = ::getpid();
  status["uptime_s"] =
      std::chrono::duration_cast<std::chrono::seconds>(now - facts.started).count();
  status["listening"] = facts.listening;
  status["devices"] = facts.devices;
  status["devices_away"] = facts.away;
  status["configuration"] = text_or_null(facts.configuration);
  status["authentication"] = facts.asks_clients;
  status["exports"] = exports.size();
  status["offered_bytes"] =
      std::accumulate(exports.begin(), exports.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const ExportStatus& one) { return sum + one.size; });
  add_counts(status, counts);
  Json reply = reply_to(id);
  reply["status"] = std::move(status);
  return line(reply);
}

std::string exports_reply(const std::string& id, std::span<const ExportStatus> exports) {
  Json reply = reply_to(id);
  reply["exports"] = Json::array();
  const auto name = [](const ExportStatus& one) -> const std::string& { return one.spec.name; };
  for (const ExportStatus* one : sorted(exports, name)) reply["exports"].push_back(describe(*one));
  return line(reply);
}

std::string sessions_reply(const std::string& id, std::span<const SessionStatus> sessions) {
  Json reply = reply_to(id);
  reply["sessions"] = Json::array();
  const auto number = [](const SessionStatus& one) { return one.id; };
  for (const SessionStatus* one : sorted(sessions, number)) {
    reply["sessions"].push_back(describe(*one));
  }
  return line(reply);
}

}  // namespace rdmablk::target
