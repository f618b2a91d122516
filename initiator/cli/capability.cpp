#include "initiator/cli/capability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

using protocol::ExportInfo;

struct Entry {
  const char* name;
  const char* meaning;
  bool (*test)(const ExportInfo&);
};

constexpr std::array kEntries{
    Entry{"read", "be read", [](const ExportInfo&) { return true; }},
    Entry{"write", "be written", [](const ExportInfo& info) { return !info.read_only; }},
    Entry{"flush", "make what was written durable when it is flushed",
          [](const ExportInfo& info) { return info.needs_flush; }},
    Entry{"fua", "make single writes durable",
          [](const ExportInfo& info) { return info.needs_flush && !info.read_only; }},
    Entry{"zero", "make ranges zero without data being sent",
          [](const ExportInfo& info) {
            return !info.read_only && info.kind == protocol::ExportKind::file;
          }},
    Entry{"discard", "give the space of ranges back",
          [](const ExportInfo& info) { return info.can_discard && !info.read_only; }},
    Entry{"map", "tell its holes from its data",
          [](const ExportInfo& info) { return info.kind == protocol::ExportKind::file; }},
    Entry{"direct", "go past the target's page cache",
          [](const ExportInfo& info) { return info.is_direct; }},
};

const Entry& find(std::string_view name) {
  const auto* const found = std::find_if(kEntries.begin(), kEntries.end(),
                                         [&](const Entry& entry) { return name == entry.name; });
  if (found != kEntries.end()) return *found;
  std::string names;
  for (const Entry& entry : kEntries) names += fmt::format(" {}", entry.name);
  throw UsageError(fmt::format("--can is '{}': it takes one of{}", name, names));
}

}  // namespace

Capability::Capability(std::string_view name) : test_(find(name).test) {}

std::string Capability::help() {
  std::string text;
  for (const Entry& entry : kEntries) text += fmt::format("  {:<9}{}\n", entry.name, entry.meaning);
  return text;
}

}  // namespace rdmablk::cli
