#include "initiator/cli/mapping/map_list.h"

#include "common/units.h"
#include "initiator/cli/mapping/loop_device.h"
#include "initiator/cli/text_table.h"

namespace rdmablk::cli::mapping {
namespace {

Json text_or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

std::string text_or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

void put(Json& json, const ShownMap& map) {
  const MapRecord& record = map.record;
  const bool has_device = !record.device.empty();
  json["uri"] = record.uri.text();
  json["name"] = text_or_null(record.name);
  json["device"] = has_device ? Json(record.device_path()) : Json();
  json["link"] = map.link;
  json["uuid"] = text_or_null(record.uuid);
  json["size_bytes"] = map.size;
  json["read_only"] = record.read_only;
  json["state"] = state_name(map.state);
}

}  // namespace

ShownMap show(const MapRoots& roots, const MapRecord& record) {
  ShownMap shown{
      .record = record, .state = state_of(roots, record), .link = MapPlace(roots, record.uri).link};
  if (has_device(roots, record)) {
    shown.size = loop_size(record.device);
  } else {
    shown.record.device.clear();
  }
  return shown;
}

std::string map_list_text(std::span<const ShownMap> maps) {
  TextTable table({"DEVICE", "SIZE", "ACCESS", "STATE", "NAME", "URI"});
  table.align_right(1);
  for (const ShownMap& map : maps) {
    const bool has_device = !map.record.device.empty();
    table.add({has_device ? map.record.device_path() : "-",
               has_device ? format_size(map.size) : "-",
               map.record.read_only ? "read-only" : "read-write", state_name(map.state),
               text_or_dash(map.record.name), map.record.uri.text()});
  }
  return table.text();
}

Json map_json(const ShownMap& map) {
  Json document = new_document();
  put(document, map);
  return document;
}

Json map_list_json(std::span<const ShownMap> maps) {
  Json document = new_document();
  document["maps"] = Json::array();
  for (const ShownMap& map : maps) {
    Json json = Json::object();
    put(json, map);
    document["maps"].push_back(std::move(json));
  }
  return document;
}

}  // namespace rdmablk::cli::mapping
