#include "initiator/copy/range_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::copy {

std::uint64_t read_size(const char* option, const std::string& text) {
  const auto size = parse_size(text);
  if (size) return *size;
  throw UsageError(fmt::format(
      "{} is '{}': it takes a size: bytes, or with K, M, G or T behind the number", option, text));
}

void RangeOptions::add_to(CLI::App& arguments) {
  arguments.add_option("--offset", offset_, "where in the export to begin")
      ->type_name("SIZE")
      ->capture_default_str();
  arguments.add_option("--length", length_, "how much of the export; default: to its end")
      ->type_name("SIZE");
}

void RangeOptions::check() const {
  read_size("--offset", offset_);
  if (!length_.empty()) read_size("--length", length_);
}

ExportRange RangeOptions::within(const std::string& name, std::uint64_t size) const {
  const std::uint64_t offset = read_size("--offset", offset_);
  if (offset >= size) {
    throw UsageError(
        fmt::format("--offset {} lies outside {}, whose size is {} bytes", offset, name, size));
  }
  const std::uint64_t rest = size - offset;
  if (length_.empty()) return {offset, rest};
  const std::uint64_t length = read_size("--length", length_);
  if (length == 0 || length > rest) {
    throw UsageError(
        fmt::format("--length {} does not fit: {} has {} bytes from {} on; it takes 1 to that",
                    length, name, rest, offset));
  }
  return {offset, length};
}

}  // namespace rdmablk::copy
