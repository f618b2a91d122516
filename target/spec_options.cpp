#include "target/spec_options.h"

#include <fmt/format.h>
#include <filesystem>

#include <algorithm>
#include <bit>
#include <limits>

#include "common/error.h"
#include "common/memory_mapping.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

/// As many as the kernel follows, path_resolution(7).
constexpr int kMaxLinks = 40;

/// May be given several times.
constexpr std::string_view kAllow = "allow";

constexpr std::uint64_t kHuge2M = std::uint64_t{2} << 20;
constexpr std::uint64_t kHuge1G = std::uint64_t{1} << 30;

/// Offsets of files are signed.
constexpr auto kMaxSize = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

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

std::uint64_t parse_huge_page(std::string_view text, std::string_view name) {
  const auto size = parse_size(text);
  if (size != kHuge2M && size != kHuge1G) {
    throw UsageError(fmt::format(
        "the huge pages of export '{}' are of '{}': it takes huge=2M or huge=1G", name, text));
  }
  return *size;
}

DirectIo parse_direct(std::string_view text, std::string_view name) {
  if (text == "auto") return DirectIo::automatic;
  if (text == "on") return DirectIo::on;
  if (text == "off") return DirectIo::off;
  throw UsageError(fmt::format(
      "the direct I/O of export '{}' is '{}': it takes direct=auto, direct=on or direct=off", name,
      text));
}

/// A file that is replaced by a new one must be what a link leads to, not the link.
std::string follow_links(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0; links < kMaxLinks; ++links) {
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) break;  // no link
    path = (path.parent_path() / next).lexically_normal();
  }
  return path.string();
}

constexpr std::string_view known_options(protocol::ExportKind kind) {
  if (kind == protocol::ExportKind::memory) {
    return "a memory export takes huge=2M|1G, readonly, shared, chunk=SIZE, save=PATH and "
           "allow=CLIENT";
  }
  return "a file export takes size=SIZE, sparse, direct=auto|on|off, readonly, shared, "
         "allow=CLIENT and "
         "resident, a resident one also huge=2M|1G and chunk=SIZE";
}

}  // namespace

std::uint64_t parse_export_size(std::string_view text, std::string_view name) {
  const std::uint64_t size = parse_bytes(text, "size", name);
  if (size == 0) throw UsageError(fmt::format("the size of export '{}' is zero", name));
  if (size % kSectorSize != 0) {
    throw UsageError(
        fmt::format("the size of export '{}' is {} bytes, which is not a multiple of {}", name,
                    size, kSectorSize));
  }
  if (size > kMaxSize) {
    throw UsageError(fmt::format("the size of export '{}' is {}, which is more than any file has",
                                 name, format_size(size)));
  }
  return size;
}

void SpecOptions::take(std::string_view text) {
  const auto equals = text.find('=');
  const auto key = text.substr(0, equals);
  if (seen_.contains(key) && key != kAllow) {
    throw UsageError(fmt::format("export '{}' has the option '{}' twice", spec_.name, key));
  }
  seen_.emplace(key);
  const bool known =
      equals == std::string_view::npos ? take_flag(key) : take_value(key, text.substr(equals + 1));
  if (!known) {
    throw UsageError(fmt::format("export '{}' has the unknown option '{}': {}", spec_.name, text,
                                 known_options(spec_.kind)));
  }
}

bool SpecOptions::take_flag(std::string_view key) {
  if (key == "readonly") return spec_.read_only = true;
  if (key == "shared") return spec_.shared = true;
  if (!spec_.has_file()) return false;
  if (key == "sparse") return spec_.sparse = true;
  if (key == "resident") {
    spec_.kind = protocol::ExportKind::resident;
    return true;
  }
  return false;
}

bool SpecOptions::take_value(std::string_view key, std::string_view value) {
  if (key == "huge") {
    spec_.huge_page = parse_huge_page(value, spec_.name);
  } else if (key == kAllow) {
    spec_.rules.add(value, spec_.name);
  } else if (key == "chunk") {
    chunk_ = parse_bytes(value, "chunk size", spec_.name);
  } else if (key == "save" && !spec_.has_file()) {
    spec_.save = follow_links(absolute_path(value, spec_.name));
  } else if (key == "size" && spec_.has_file()) {
    spec_.file_size = parse_export_size(value, spec_.name);
  } else if (key == "direct" && spec_.has_file()) {
    spec_.direct = parse_direct(value, spec_.name);
  } else {
    return false;
  }
  return true;
}

void SpecOptions::finish() {
  if (spec_.shared && spec_.read_only) {
    throw UsageError(fmt::format(
        "export '{}' has the options 'shared' and 'readonly': nobody writes to one that "
        "is read-only, and any number may read it",
        spec_.name));
  }
  if (spec_.has_file()) finish_file();
  if (spec_.kind != protocol::ExportKind::file) finish_memory();
}

void SpecOptions::finish_file() const {
  if (spec_.kind == protocol::ExportKind::file) {
    for (const std::string_view key : {"huge", "chunk"}) {
      if (!seen_.contains(key)) continue;
      throw UsageError(
          fmt::format("export '{}' has the option '{}', which is for memory: a file export takes "
                      "it with 'resident' only",
                      spec_.name, key));
    }
  }
  if (!spec_.sparse) return;
  if (!spec_.file_size) {
    throw UsageError(fmt::format(
        "export '{}' has the option 'sparse' without 'size': it says how a missing file is made",
        spec_.name));
  }
  if (spec_.read_only) {
    throw UsageError(
        fmt::format("export '{}' has the options 'sparse' and 'readonly': a file that is only "
                    "read is never made",
                    spec_.name));
  }
}

/// The chunk size depends on the pages.
void SpecOptions::finish_memory() {
  const std::uint64_t page = spec_.huge_page != 0 ? spec_.huge_page : page_size();
  spec_.chunk = chunk_.value_or(std::max(kDefaultChunk, page));
  if (!std::has_single_bit(spec_.chunk) || spec_.chunk < page) {
    throw UsageError(
        fmt::format("the chunk size of export '{}' is {}: it takes a power of two of {} or more, "
                    "the size of its pages",
                    spec_.name, format_size(spec_.chunk), format_size(page)));
  }
  if (!spec_.has_file()) check_chunk_count(spec_);
  if (spec_.read_only && !spec_.save.empty()) {
    throw UsageError(
        fmt::format("export '{}' has the options 'save' and 'readonly': there is nothing to save; "
                    "file:PATH,resident,readonly serves a file from memory",
                    spec_.name));
  }
}

}  // namespace rdmablk::target
