#pragma once

#include <spdlog/common.h>

#include <initializer_list>
#include <span>
#include <string_view>

namespace rdmablk {

/// What a log line is about, for who searches the journal: `journalctl CLIENT=alice`.
struct LogField {
  const char* name;  ///< "CLIENT": capital letters and '_'
  std::string_view value;
};

/// Logs a line that is about something. Where the log is text alone, the fields do not show.
void log_about(std::initializer_list<LogField> fields, spdlog::level::level_enum level,
               std::string_view line);

/// Those of the line that the calling thread is logging.
std::span<const LogField> current_log_fields() noexcept;

}  // namespace rdmablk
