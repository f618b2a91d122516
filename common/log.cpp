#include "common/log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/journal_sink.h"

namespace rdmablk {

namespace {

spdlog::level::level_enum parse_level(const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    throw UsageError(
        fmt::format("'{}' is not a log level: it is trace, debug, info, warning or error", level));
  }
  return parsed;
}

}  // namespace

void check_log_level(const std::string& level) {
  parse_level(level);
}

void start_logging(const std::string& program, const std::string& level) {
  const auto parsed = parse_level(level);
  std::shared_ptr<spdlog::sinks::sink> sink;
  if (stderr_is_journal()) {
    sink = std::make_shared<JournalSink>();
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  auto logger = std::make_shared<spdlog::logger>(program, std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %n[%P] %l: %v");
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void print_error(const std::string& program, const std::string& text) noexcept {
  std::string_view rest = text;
  while (true) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    // Not fmt::print, which throws when it cannot write.
    std::fprintf(stderr, "%s: %.*s\n", program.c_str(), static_cast<int>(line.size()), line.data());
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

namespace {

/// What a program opens must not become its standard error: log lines would go into it.
void open_closed_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

/// librdmacm sorts and compares the addresses of devices as int (rdma-core 44, dev_cmp()): it takes
/// one for removed, or for new, that is not, where they are more than 2 GiB apart, as those of
/// several arenas are.
void use_one_arena() {
  ::mallopt(M_ARENA_MAX, 1);
}

}  // namespace

int run_program(const std::string& program, int (*run)(int, char**), int argc, char** argv) {
  open_closed_standard_descriptors();
  use_one_arena();
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    print_error(program, error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    print_error(program, error.what());
    return kExitFailed;
  }
}

}  // namespace rdmablk
