#include "common/metrics/status_json.h"

#include <unistd.h>

#include <array>
#include <chrono>

#include "common/seconds.h"

namespace rdmablk::metrics {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

Json new_status(std::string_view program) {
  constexpr int kVersion = 1;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  // The clock of whoever reads it may differ, and arrive late.
  return Json{{"version", kVersion},
              {"program", program},
              {"program_version", RDMABLK_VERSION},
              {"host", host_name()},
              {"clock_s", in_seconds(now)}};
}

Json io_json(const IoFigures& figures) {
  Json all = Json::object();
  for (std::size_t i = 0; i < kIoKinds; ++i) {
    const IoKindFigures& of = figures.kinds[i];
    all[kIoKindNames[i]] = {{"requests", of.ended},
                            {"bytes", of.bytes},
                            {"errors", of.failed()},
                            {"time_s", in_seconds(of.latency.sum)}};
  }
  return all;
}

std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rdmablk::metrics
