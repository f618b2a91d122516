#include "target/export_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "common/error.h"
#include "common/export_name.h"
#include "common/units.h"
#include "target/spec_options.h"

namespace rdmablk::target {
namespace {

constexpr std::string_view kForm =
    "NAME=memory:SIZE[,huge=2M|1G][,readonly][,shared][,chunk=SIZE][,save=PATH][,allow=...] or "
    "NAME=file:PATH[,size=SIZE][,sparse][,direct=auto|on|off][,readonly][,shared][,resident]"
    "[,allow=...]";

/// Cuts at the commas that no backslash stands before, and takes those backslashes out.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escapes =
        text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == ',' || text[i + 1] == '\\');
    if (escapes) {
      parts.back() += text[++i];
    } else if (text[i] == ',') {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
  }
  return parts;
}

std::string parse_name(std::string_view text, std::string_view whole) {
  if (text.size() == whole.size()) {
    throw UsageError(fmt::format("'{}' is not an export: it is written {}", whole, kForm));
  }
  return parse_export_name(text);
}

/// Reads TYPE:ARGUMENT.
void parse_type(std::string_view text, ExportSpec& spec) {
  const auto colon = text.find(':');
  const auto type = text.substr(0, colon);
  const bool memory = type == "memory";
  if (!memory && type != "file") {
    throw UsageError(fmt::format(
        "export '{}' has the unknown type '{}': the types are: memory, file", spec.name, type));
  }
  if (colon == std::string_view::npos) {
    throw UsageError(fmt::format("export '{}' has no {}: it is written {}", spec.name,
                                 memory ? "size" : "path", kForm));
  }
  set_argument(spec, memory ? protocol::ExportKind::memory : protocol::ExportKind::file,
               text.substr(colon + 1));
}

}  // namespace

std::string parse_export_name(std::string_view text) {
  if (!is_export_name(text)) {
    throw UsageError(
        fmt::format("'{}' is not a name of an export: up to {} letters, digits, '.', '_' and '-', "
                    "the first a letter or digit",
                    text, kMaxExportName));
  }
  return std::string(text);
}

void set_argument(ExportSpec& spec, protocol::ExportKind kind, std::string_view argument) {
  spec.kind = kind;
  if (spec.has_file()) {
    spec.path = absolute_path(argument, spec.name);
  } else {
    spec.size = parse_export_size(argument, spec.name);
  }
}

std::string absolute_path(std::string_view text, std::string_view name) {
  if (text.empty()) throw UsageError(fmt::format("the path of export '{}' is empty", name));
  std::error_code error;
  const auto path = std::filesystem::absolute(text, error);
  if (error) {
    throw UsageError(
        fmt::format("the path of export '{}' is '{}', and the directory that it "
                    "starts from cannot be found: {}",
                    name, text, error.message()));
  }
  return path.string();
}

ExportSpec parse_export_spec(std::string_view text) {
  ExportSpec spec;
  const auto equals = text.find('=');
  spec.name = parse_name(text.substr(0, equals), text);
  const auto parts = split(text.substr(equals + 1));
  parse_type(parts.front(), spec);
  SpecOptions options(spec);
  std::for_each(parts.begin() + 1, parts.end(), [&](const auto& part) { options.take(part); });
  options.finish();
  return spec;
}

void check_chunk_count(const ExportSpec& spec) {
  if ((spec.size - 1) / spec.chunk < kMaxChunks) return;
  throw UsageError(
      fmt::format("the chunk size of export '{}' is {}, which makes more than {} chunks of its {}",
                  spec.name, format_size(spec.chunk), kMaxChunks, format_size(spec.size)));
}

std::vector<ExportSpec> parse_export_specs(const std::vector<std::string>& texts) {
  std::vector<ExportSpec> specs;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    specs.push_back(parse_export_spec(text));
    if (!names.insert(specs.back().name).second) {
      throw UsageError(fmt::format("there are two exports of the name '{}'", specs.back().name));
    }
  }
  return specs;
}

}  // namespace rdmablk::target
