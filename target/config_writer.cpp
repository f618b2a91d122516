#include "target/config_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include <toml++/toml.h>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "target/config_export.h"

namespace rdmablk::target {
namespace {

/// "4G"; as few digits as it takes.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array kUnits{std::pair{40U, 'T'}, std::pair{30U, 'G'}, std::pair{20U, 'M'},
                              std::pair{10U, 'K'}};
  for (const auto& [shift, unit] : kUnits) {
    const std::uint64_t size = bytes >> shift;
    if (size != 0 && size << shift == bytes) return fmt::format("{}{}", size, unit);
  }
  return fmt::format("{}", bytes);
}

void add_memory_options(const ExportSpec& spec, toml::table& table) {
  if (spec.kind == protocol::ExportKind::file) return;
  if (spec.huge_page != 0) table.insert("huge", size_text(spec.huge_page));
  const std::uint64_t page = spec.huge_page != 0 ? spec.huge_page : page_size();
  if (spec.chunk != std::max(kDefaultChunk, page)) table.insert("chunk", size_text(spec.chunk));
}

void add_file_options(const ExportSpec& spec, toml::table& table) {
  table.insert("type", "file");
  table.insert("path", spec.path);
  if (spec.file_size) table.insert("size", size_text(*spec.file_size));
  if (spec.sparse) table.insert("sparse", true);
  if (spec.kind == protocol::ExportKind::resident) table.insert("resident", true);
  if (spec.direct == DirectIo::on) table.insert("direct", "on");
  if (spec.direct == DirectIo::off) table.insert("direct", "off");
}

toml::table table_of(const ExportSpec& spec) {
  toml::table table;
  if (spec.has_file()) {
    add_file_options(spec, table);
  } else {
    table.insert("type", "memory");
    table.insert("size", size_text(spec.size));
    if (!spec.save.empty()) table.insert("save", spec.save);
  }
  add_memory_options(spec, table);
  if (spec.read_only) table.insert("readonly", true);
  if (spec.shared) table.insert("shared", true);
  toml::array rules;
  for (const std::string& rule : spec.rules.texts()) rules.push_back(rule);
  if (!rules.empty()) table.insert("allow", std::move(rules));
  return table;
}

/// What a file with that text defines; nothing when it is none.
std::optional<ExportSpec> read_back(const std::string& text) {
  try {
    const auto entries = parse_config_text(text, "");
    Complaints complaints;
    return read_export(entries.at(0).value.entries.at(0), complaints);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string export_text(const ExportSpec& spec) {
  ExportSpec wanted = spec;
  wanted.origin = ExportOrigin::configuration;
  if (wanted.has_file()) wanted.size = 0;
  toml::table exports;
  exports.insert(wanted.name, table_of(wanted));
  toml::table file;
  file.insert("export", std::move(exports));
  std::ostringstream text;
  // No literal strings: they have no escapes for what cannot be printed.
  text << toml::toml_formatter(file, toml::format_flags::none) << '\n';
  if (read_back(text.str()) == wanted) return text.str();
  throw Error(
      fmt::format("export '{}' cannot be written to a configuration file: a path in it has "
                  "bytes that are no text in UTF-8",
                  spec.name));
}

}  // namespace rdmablk::target
