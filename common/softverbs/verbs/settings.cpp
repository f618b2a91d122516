#include "common/softverbs/verbs/settings.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/softverbs/verbs/limits.h"

namespace softverbs {
namespace {

Settings read_environment() {
  Settings settings;
  if (const char* value = std::getenv("SOFTVERBS_KIND")) {
    const std::string_view kind = value;
    if (kind == "iwarp") {
      settings.kind = Kind::kIwarp;
    } else if (kind != "roce" && !kind.empty()) {
      std::fprintf(stderr, "softverbs: SOFTVERBS_KIND is '%s'; it takes roce or iwarp\n", value);
    }
  }
  if (const char* value = std::getenv("SOFTVERBS_COPY")) {
    const std::string_view copy = value;
    if (copy == "process_vm") {
      settings.copy = Copy::kProcessVm;
    } else if (copy != "mapped" && !copy.empty()) {
      std::fprintf(stderr, "softverbs: SOFTVERBS_COPY is '%s'; it takes mapped or process_vm\n",
                   value);
    }
  }
  if (const char* value = std::getenv("SOFTVERBS_DEVICES")) {
    char* end = nullptr;
    const long count = std::strtol(value, &end, 10);
    if (end != value && *end == '\0' && count >= 1 && count <= kMaxDevices) {
      settings.devices = static_cast<int>(count);
    } else {
      std::fprintf(stderr, "softverbs: SOFTVERBS_DEVICES is '%s'; it takes 1 to %d\n", value,
                   kMaxDevices);
    }
  }
  settings.memory_may_outlive_it = std::getenv("NOTIFY_SOCKET") != nullptr;
  return settings;
}

}  // namespace

const Settings& Settings::get() {
  static const Settings settings = read_environment();
  return settings;
}

}  // namespace softverbs
