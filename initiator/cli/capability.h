#pragma once

#include <string>
#include <string_view>

#include "common/protocol/messages.h"

namespace rdmablk::cli {

/// Whether an export can do what a script asks for: `rdmablk info --can NAME`.
class Capability {
 public:
  /// @param name one of names(). Throws UsageError for another.
  explicit Capability(std::string_view name);

  bool is_of(const protocol::ExportInfo& info) const { return test_(info); }

  /// All of them for people, a line for each: the name and what it means.
  static std::string help();

 private:
  bool (*test_)(const protocol::ExportInfo& info);
};

}  // namespace rdmablk::cli
