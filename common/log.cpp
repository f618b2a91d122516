#include "common/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdio>
#include <exception>
#include <memory>

#include "common/error.h"

namespace rdmablk {

void start_logging(const std::string& program, const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    throw UsageError(
        fmt::format("'{}' is not a log level: it is trace, debug, info, warning or error", level));
  }
  auto logger =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %n[%P] %l: %v");
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

int run_program(const std::string& program, int (*run)(int, char**), int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
    return kExitFailed;
  }
}

}  // namespace rdmablk
