#include "target/export_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "common/error.h"
#include "common/export_name.h"
#include "common/memory_mapping.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

constexpr std::string_view kForm = "NAME=memory:SIZE[,huge=2M|1G][,readonly][,chunk=SIZE]";
constexpr std::uint64_t kHuge2M = std::uint64_t{2} << 20;
constexpr std::uint64_t kHuge1G = std::uint64_t{1} << 30;

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

std::uint64_t parse_bytes(std::string_view text, std::string_view what, std::string_view name) {
  const auto size = parse_size(text);
  if (!size) {
    throw UsageError(
        fmt::format("the {} of export '{}' is '{}', which is not a size: it takes a number of "
                    "bytes, or of K, M, G or T",
                    what, name, text));
  }
  return *size;
}

std::uint64_t parse_export_size(std::string_view text, std::string_view name) {
  const std::uint64_t size = parse_bytes(text, "size", name);
  if (size == 0) throw UsageError(fmt::format("the size of export '{}' is zero", name));
  if (size % kSectorSize != 0) {
    throw UsageError(
        fmt::format("the size of export '{}' is {} bytes, which is not a multiple of {}", name,
                    size, kSectorSize));
  }
  return size;
}

std::uint64_t parse_huge_page(std::string_view text, std::string_view name) {
  const auto size = parse_size(text);
  if (size != kHuge2M && size != kHuge1G) {
    throw UsageError(fmt::format(
        "the huge pages of export '{}' are of '{}': it takes huge=2M or huge=1G", name, text));
  }
  return *size;
}

/// The options that stand behind the first comma, as they are read.
class SpecOptions {
 public:
  explicit SpecOptions(ExportSpec& spec) : spec_(spec) {}

  void take(std::string_view text) {
    const auto equals = text.find('=');
    const auto key = text.substr(0, equals);
    if (!seen_.insert(std::string(key)).second) {
      throw UsageError(fmt::format("export '{}' has the option '{}' twice", spec_.name, key));
    }
    if (key == "readonly" && equals == std::string_view::npos) {
      spec_.read_only = true;
    } else if (key == "huge" && equals != std::string_view::npos) {
      spec_.huge_page = parse_huge_page(text.substr(equals + 1), spec_.name);
    } else if (key == "chunk" && equals != std::string_view::npos) {
      chunk_ = parse_bytes(text.substr(equals + 1), "chunk size", spec_.name);
    } else {
      throw UsageError(
          fmt::format("export '{}' has the unknown option '{}': a memory export takes huge=2M|1G, "
                      "readonly and chunk=SIZE",
                      spec_.name, text));
    }
  }

  /// Checks the chunk size, which depends on the pages.
  void finish() {
    const std::uint64_t page = spec_.huge_page != 0 ? spec_.huge_page : page_size();
    spec_.chunk = chunk_.value_or(std::max(kDefaultChunk, page));
    if (!std::has_single_bit(spec_.chunk) || spec_.chunk < page) {
      throw UsageError(
          fmt::format("the chunk size of export '{}' is {}: it takes a power of two of {} or more, "
                      "the size of its pages",
                      spec_.name, format_size(spec_.chunk), format_size(page)));
    }
    if ((spec_.size - 1) / spec_.chunk >= kMaxChunks) {
      throw UsageError(
          fmt::format("the chunk size of export '{}' is {}, which makes more than {} "
                      "chunks of its {}",
                      spec_.name, format_size(spec_.chunk), kMaxChunks, format_size(spec_.size)));
    }
  }

 private:
  ExportSpec& spec_;
  std::set<std::string> seen_;
  std::optional<std::uint64_t> chunk_;
};

std::string parse_name(std::string_view text, std::string_view whole) {
  if (text.size() == whole.size()) {
    throw UsageError(fmt::format("'{}' is not an export: it is written {}", whole, kForm));
  }
  if (!is_export_name(text)) {
    throw UsageError(
        fmt::format("'{}' is not a name of an export: up to {} letters, digits, '.', '_' and '-', "
                    "the first a letter or digit",
                    text, kMaxExportName));
  }
  return std::string(text);
}

}  // namespace

ExportSpec parse_export_spec(std::string_view text) {
  ExportSpec spec;
  const auto equals = text.find('=');
  spec.name = parse_name(text.substr(0, equals), text);
  const auto parts = split(text.substr(equals + 1));
  const std::string_view what = parts.front();
  const auto colon = what.find(':');
  const auto type = what.substr(0, colon);
  if (type != "memory") {
    throw UsageError(fmt::format("export '{}' has the unknown type '{}': the types are: memory",
                                 spec.name, type));
  }
  if (colon == std::string_view::npos) {
    throw UsageError(fmt::format("export '{}' has no size: it is written {}", spec.name, kForm));
  }
  spec.size = parse_export_size(what.substr(colon + 1), spec.name);
  SpecOptions options(spec);
  std::for_each(parts.begin() + 1, parts.end(), [&](const auto& part) { options.take(part); });
  options.finish();
  return spec;
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
