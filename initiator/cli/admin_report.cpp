#include "initiator/cli/admin_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/counted.h"
#include "common/units.h"
#include "initiator/cli/text_table.h"
#include "initiator/cli/time_text.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kNothing = "-";

/// A path may hold anything, also what a terminal takes for a command.
std::string printable(std::string text) {
  constexpr unsigned char kDelete = 0x7f;
  std::replace_if(
      text.begin(), text.end(),
      [](unsigned char c) { return c < static_cast<unsigned char>(' ') || c == kDelete; }, '?');
  return text;
}

const Json& member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

/// A member that is a text, a number or a list of texts.
std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (value.is_string()) return printable(value.get<std::string>());
  if (value.is_number_integer()) return value.dump();
  if (!value.is_array() || value.empty()) return kNothing;
  std::string joined;
  for (const Json& one : value) {
    if (!one.is_string()) continue;
    joined += (joined.empty() ? "" : ", ") + printable(one.get<std::string>());
  }
  return joined;
}

std::string size(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? format_size(value.get<std::uint64_t>()) : kNothing;
}

std::string seconds(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? time_text(std::chrono::seconds(value.get<std::int64_t>()))
                                    : kNothing;
}

/// A member that is a number, with what it counts.
std::string count(const Json& object, const char* key, std::string_view noun) {
  const Json& value = member(object, key);
  return value.is_number_unsigned() ? counted(value.get<std::uint64_t>(), noun)
                                    : fmt::format("{} {}s", text(object, key), noun);
}

bool flag(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::string access(const Json& one) {
  if (flag(one, "leaving")) return "leaving";
  if (flag(one, "read_only")) return "read-only";
  return flag(one, "shared") ? "read-write, shared" : "read-write";
}

std::string origin(const Json& one) {
  std::string name = text(one, "origin");
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string attachments(const Json& session) {
  const Json& list = member(session, "attachments");
  std::string joined;
  if (!list.is_array()) return kNothing;
  for (const Json& one : list) {
    const bool reads_only = text(one, "access") == "read_only";
    joined += fmt::format("{}{} ({}, {})", joined.empty() ? "" : ", ", text(one, "export"),
                          reads_only ? "ro" : "rw", count(one, "queues", "queue"));
  }
  return joined.empty() ? kNothing : joined;
}

}  // namespace

std::string target_status_text(const Json& status) {
  std::string lines;
  const auto line = [&lines](const char* name, const std::string& value) {
    lines += fmt::format("{:<15}{}\n", name, value);
  };
  line("version", text(status, "program_version"));
  line("process", text(status, "pid"));
  line("up", seconds(status, "uptime_s"));
  line("listening on", text(status, "listening"));
  line("over", text(status, "devices"));
  if (!member(status, "devices_away").empty()) line("away", text(status, "devices_away"));
  line("configuration", text(status, "configuration"));
  line("clients", flag(status, "authentication") ? "prove who they are" : "anybody (--insecure)");
  line("exports",
       fmt::format("{}, {} in all", text(status, "exports"), size(status, "offered_bytes")));
  line("sessions", fmt::format("{}, with {} and {}", text(status, "sessions"),
                               count(status, "attachments", "attachment"),
                               count(status, "io_queues", "I/O queue")));
  line("registered", size(status, "registered_bytes"));
  return lines;
}

std::string admin_exports_text(const Json& exports) {
  TextTable table({"NAME", "TYPE", "SIZE", "ACCESS", "READERS", "WRITERS", "FROM", "FILE"});
  for (const std::size_t column : {2U, 4U, 5U}) table.align_right(column);
  for (const Json& one : exports) {
    table.add({text(one, "name"), text(one, "type"), size(one, "size_bytes"), access(one),
               text(one, "readers"), text(one, "writers"), origin(one),
               text(one, member(one, "file").is_null() ? "save" : "file")});
  }
  return table.text();
}

std::string admin_sessions_text(const Json& sessions) {
  TextTable table({"SESSION", "CLIENT", "ADDRESS", "DEVICE", "AGE", "EXPORTS"});
  table.align_right(0);
  for (const Json& one : sessions) {
    table.add({text(one, "session"), text(one, "client"), text(one, "address"), text(one, "device"),
               seconds(one, "age_s"), attachments(one)});
  }
  return table.text();
}

Json document_of(const Json& reply, const char* key) {
  Json document = new_document();
  document[key] = member(reply, key);
  return document;
}

}  // namespace rdmablk::cli
