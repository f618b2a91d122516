#include "common/log_fields.h"

#include <spdlog/spdlog.h>

#include <utility>

namespace rdmablk {
namespace {

// A sink is given the line alone, on the thread that logs it.
thread_local std::span<const LogField> fields_of_thread;

}  // namespace

void log_about(std::initializer_list<LogField> fields, spdlog::level::level_enum level,
               std::string_view line) {
  const auto before = std::exchange(fields_of_thread, std::span(fields.begin(), fields.size()));
  spdlog::log(level, "{}", line);  // throws nothing
  fields_of_thread = before;
}

std::span<const LogField> current_log_fields() noexcept {
  return fields_of_thread;
}

}  // namespace rdmablk
