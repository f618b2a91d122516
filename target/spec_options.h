#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "target/export_spec.h"

namespace rdmablk::target {

/// Reads the size of an export's memory or file: in bytes, a multiple of 512, that a file can
/// have. Throws UsageError, which names the export.
std::uint64_t parse_export_size(std::string_view text, std::string_view name);

/// The options of an export, which stand behind its first comma, as they are read.
class SpecOptions {
 public:
  /// @param spec has its name and kind; gets what the options say, and outlives this.
  explicit SpecOptions(ExportSpec& spec) noexcept : spec_(spec) {}

  /// Takes the next: KEY or KEY=VALUE. Throws UsageError.
  void take(std::string_view text);

  /// Checks what depends on several of them. Throws UsageError.
  void finish();

 private:
  bool take_flag(std::string_view key);
  bool take_value(std::string_view key, std::string_view value);
  void finish_file() const;
  void finish_memory();

  ExportSpec& spec_;
  std::set<std::string, std::less<>> seen_;
  std::optional<std::uint64_t> chunk_;
};

}  // namespace rdmablk::target
