#include "initiator/cli/map_report.h"

#include "initiator/cli/text_table.h"

namespace rdmablk::cli {
namespace {

const char* type_name(const protocol::Extent& extent) {
  return extent.is_hole ? "hole" : "data";
}

}  // namespace

std::string export_map_text(const ExportMap& map) {
  TextTable table({"OFFSET", "LENGTH", "TYPE"});
  table.align_right(0);
  table.align_right(1);
  std::uint64_t offset = map.offset;
  for (const auto& extent : map.extents) {
    table.add({std::to_string(offset), std::to_string(extent.length), type_name(extent)});
    offset += extent.length;
  }
  return table.text();
}

Json export_map_json(const ExportMap& map) {
  Json document = new_document();
  document["uri"] = map.uri.text();
  document["extents"] = Json::array();
  std::uint64_t offset = map.offset;
  for (const auto& extent : map.extents) {
    document["extents"].push_back(Json{
        {"offset_bytes", offset}, {"length_bytes", extent.length}, {"type", type_name(extent)}});
    offset += extent.length;
  }
  return document;
}

}  // namespace rdmablk::cli
