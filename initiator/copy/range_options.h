#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace rdmablk::copy {

/// A size on the command line. Throws UsageError.
std::uint64_t read_size(const char* option, const std::string& text);

/// A part of an export.
struct ExportRange {
  std::uint64_t offset = 0;  ///< bytes
  std::uint64_t length = 0;  ///< bytes, at least 1
};

/// The options --offset and --length.
class RangeOptions {
 public:
  void add_to(CLI::App& arguments);

  /// Throws UsageError when a value makes no sense, whatever the export is like.
  void check() const;

  /// The part that they name. Throws UsageError when it does not lie within the export.
  /// @param name of the export, for the message. @param size bytes.
  ExportRange within(const std::string& name, std::uint64_t size) const;

 private:
  std::string offset_ = "0";
  std::string length_;  ///< empty: to the end
};

}  // namespace rdmablk::copy
