#include "initiator/cli/export_report.h"

#include <fmt/format.h>

#include "common/hex.h"
#include "common/protocol/labels.h"
#include "common/units.h"
#include "common/uuid.h"
#include "initiator/cli/text_table.h"

namespace rdmablk::cli {
namespace {

const char* access_name(const protocol::ExportInfo& info) {
  if (info.read_only) return "read-only";
  return info.is_shared ? "read-write, shared" : "read-write";
}

/// Who may write, for people.
const char* writers(const protocol::ExportInfo& info) {
  if (info.read_only) return "none: read-only";
  return info.is_shared ? "any number at a time: shared" : "one at a time";
}

bool has_file(const protocol::ExportInfo& info) {
  return info.kind != protocol::ExportKind::memory;
}

void add_properties(Json& json, const protocol::ExportInfo& info) {
  json["name"] = info.name;
  json["type"] = label_of(info.kind);
  json["size_bytes"] = info.size;
  json["block_size_bytes"] = info.block_size;
  json["read_only"] = info.read_only;
  json["direct"] = info.is_direct;
  json["needs_flush"] = info.needs_flush;
  json["can_discard"] = info.can_discard;
  json["shared"] = info.is_shared;
  json["uuid"] = format_uuid(info.uuid);
}

/// "256 MiB (268435456 bytes)"
std::string both_sizes(std::uint64_t bytes) {
  const std::string plain = fmt::format("{} bytes", bytes);
  const std::string human = format_size(bytes);
  return human == plain ? plain : fmt::format("{} ({})", human, plain);
}

const char* flush_meaning(const protocol::ExportInfo& info) {
  if (info.read_only) return "nothing to do: read-only";
  if (info.needs_flush) return "needed: makes writes that have ended durable";
  return "nothing to do: a write that has ended is where it will stay";
}

const char* discard_meaning(const protocol::ExportInfo& info) {
  if (info.read_only) return "no: read-only";
  return info.can_discard ? "gives space back" : "writes zeroes";
}

}  // namespace

std::string export_list_text(std::span<const protocol::ExportInfo> exports) {
  TextTable table({"NAME", "TYPE", "SIZE", "ACCESS", "UUID"});
  table.align_right(2);
  for (const auto& info : exports) {
    table.add({info.name, label_of(info.kind), format_size(info.size), access_name(info),
               format_uuid(info.uuid)});
  }
  return table.text();
}

Json export_list_json(const HostPort& target, std::span<const protocol::ExportInfo> exports) {
  Json document = new_document();
  document["target"] = target.text();
  document["exports"] = Json::array();
  for (const auto& info : exports) {
    Json json = Json::object();
    add_properties(json, info);
    document["exports"].push_back(std::move(json));
  }
  return document;
}

std::string export_details_text(const ExportDetails& details) {
  const auto& [uri, reply] = details;
  const auto& table = reply.table;
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, value);
  };
  line("uri", uri.text());
  line("type", label_of(reply.info.kind));
  if (has_file(reply.info)) {
    if (!reply.origin.empty()) line("file", reply.origin);
    line("file I/O", reply.info.is_direct ? "direct: past the target's page cache"
                                          : "buffered: through the target's page cache");
  }
  line("size", both_sizes(reply.info.size));
  line("block size", fmt::format("{} bytes", reply.info.block_size));
  line("access", access_name(reply.info));
  line("writers", writers(reply.info));
  if (reply.lease != 0) line("lease", std::to_string(reply.lease));
  line("uuid", format_uuid(reply.info.uuid));
  line("generation", hex(reply.generation));
  if (table.count > 0) {
    line("chunks", fmt::format("{} of at most {}", table.count, format_size(table.chunk_size)));
  }
  line("flush", flush_meaning(reply.info));
  line("discard", discard_meaning(reply.info));
  return text;
}

Json export_details_json(const ExportDetails& details) {
  const auto& [uri, reply] = details;
  Json document = new_document();
  document["uri"] = uri.text();
  add_properties(document, reply.info);
  document["file"] = reply.origin.empty() ? Json() : Json(reply.origin);
  document["generation"] = hex(reply.generation);
  document["lease"] = reply.lease == 0 ? Json() : Json(reply.lease);
  document["chunks"] = reply.table.count;
  document["chunk_size_bytes"] = reply.table.chunk_size;
  return document;
}

Json export_size_json(const ExportDetails& details) {
  Json document = new_document();
  document["uri"] = details.uri.text();
  document["size_bytes"] = details.reply.info.size;
  return document;
}

Json export_answer_json(const Uri& uri, const std::string& what, bool can) {
  Json document = new_document();
  document["uri"] = uri.text();
  document["can"] = what;
  document["answer"] = can;
  return document;
}

}  // namespace rdmablk::cli
